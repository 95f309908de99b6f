// The edge receiver in workerd, beside Workers written by hand: CPU time and wall time per request, and the size.
//
// All Workers run in one workerd, and the sides take turns in short rounds, so that a busy moment of the machine hits
// them alike. CPU time is that of workerd's process; who sends is another. Medians over the rounds are printed.

import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { gzipSync } from "node:zlib";
import { BODIES } from "../verify/deliveries.mjs";
import { PAIRS } from "./goals.mjs";
import { deliveries, send } from "./load.mjs";
import { start } from "./runtime.mjs";
import { deployed, sides, workersToRun } from "./sides.mjs";

const ROUNDS = 15;
const WARM_UP_ROUNDS = 3;
const REQUESTS = 400;
const bodies = BODIES.filter(({ name }) => ["512 B", "2 KB", "16 KB"].includes(name));

const sorted = (values) => [...values].sort((left, right) => left - right);
const percentile = (values, share) => sorted(values)[Math.floor((values.length * share) / 100)];
const median = (values) => percentile(values, 50);

const runtime = await start(workersToRun);
/** By body and side: CPU µs per request of each round, and the wall time of every request in ms. */
const figures = new Map(bodies.map(({ name }) => [name, new Map(sides.map((side) => [side.name, { cpu: [], wall: [] }]))]));
for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
  for (const body of bodies) await measure(body, round >= WARM_UP_ROUNDS);
}
await runtime.stop();
print();

async function measure(body, counts) {
  let sent;
  for (const { name, worker, code, own } of sides) {
    if (code === "ok" || own) sent = deliveries(body, REQUESTS);
    const before = runtime.cpuNanoseconds();
    const wall = await send(new URL("/webhooks", runtime.urls.get(worker)), sent, code);
    const taken = Number(runtime.cpuNanoseconds() - before) / 1000 / REQUESTS;
    if (!counts) continue;
    const figure = figures.get(body.name).get(name);
    figure.cpu.push(taken);
    figure.wall.push(...wall);
  }
}

function print() {
  const names = bodies.map(({ name }) => name);
  console.log(`Node ${process.versions.node}, ${cpus()[0].model}; medians of ${ROUNDS} rounds of ${REQUESTS} requests\n`);
  console.log("CPU µs of workerd per request:\n");
  table(["", ...names], sides.map(({ name }) => [name, ...names.map((body) => median(figures.get(body).get(name).cpu).toFixed(0))]));
  console.log("\nWall time per request in ms, four in flight, p50 / p99:\n");
  table(["", ...names], sides.map(({ name }) => [name, ...names.map((body) => {
    const { wall } = figures.get(body).get(name);
    return `${percentile(wall, 50).toFixed(2)} / ${percentile(wall, 99).toFixed(2)}`;
  })]));
  console.log("\nCPU time in parts of the other's, and the goal:\n");
  const verdict = (value, max) => (max === undefined ? "" : ` (at most ${max}) ${value <= max ? "reached" : "MISSED"}`);
  table(["", ...names], PAIRS.map((pair) => [
    `${pair.ours} : ${pair.other}`,
    ...names.map((body) => ratio(body, pair).toFixed(2) + verdict(ratio(body, pair), pair.max)),
  ]));
  const files = deployed.map((path) => readFileSync(path));
  const size = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
  const all = size(files.reduce((sum, file) => sum + file.length, 0));
  const compressed = size(files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0));
  console.log(`\nSize of what is deployed: ${all}, with gzip ${compressed}`);
}

/** Of each round, so that a slow one does not count for one side alone. */
function ratio(body, { ours, other }) {
  const [mine, theirs] = [ours, other].map((name) => figures.get(body).get(name).cpu);
  return median(mine.map((figure, round) => figure / theirs[round]));
}

function table(head, rows) {
  console.log(`| ${head.join(" | ")} |`);
  console.log(`|---|${"---:|".repeat(head.length - 1)}`);
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
}
