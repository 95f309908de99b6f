// Verification in Node, side by side: the table of CPU times, then the goals; the module's size; the start.
//
// Each side runs in its own process for each body, the rounds are interleaved, and medians are printed. In one process
// the sides would share caches and optimisations; one after the other, a busy minute would hit one of them alone.

import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { BODIES } from "./deliveries.mjs";
import { GOALS } from "./goals.mjs";
import { printSizes } from "./size.mjs";
import { sides } from "./sides.mjs";
import { printStarts } from "./start.mjs";

const ROUNDS = 5;

const median = (values) => [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)];
const script = fileURLToPath(new URL("side.mjs", import.meta.url));
const names = Object.keys(sides);
const bodies = BODIES.map(({ name }) => name);

/** Figures of all rounds, by side and body. */
const figures = new Map(names.map((name) => [name, new Map(bodies.map((body) => [body, []]))]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const body of bodies) {
    for (const name of names) figures.get(name).get(body).push(Number(execFileSync(process.execPath, [script, name, body])));
  }
}
const typical = (name, body) => median(figures.get(name).get(body));

console.log(`Node ${process.versions.node}, ${cpus()[0].model}; medians of ${ROUNDS} rounds\n`);
console.log("CPU µs per delivery:\n");
table(["", ...bodies], names.map((name) => [name, ...bodies.map((body) => typical(name, body).toFixed(2))]));

console.log("\nHow many times as fast as the other, and the goal:\n");
table(["", ...bodies], GOALS.map(({ ours, other, goals }) => [
  `${ours} : ${other}`,
  ...bodies.map((body) => {
    // Of each round, so that a slow one does not count for one side alone.
    const ratios = figures.get(other).get(body).map((figure, round) => figure / figures.get(ours).get(body)[round]);
    const ratio = median(ratios);
    const goal = goals[body];
    return goal === undefined ? ratio.toFixed(2) : `${ratio.toFixed(2)} (${goal}) ${ratio >= goal ? "reached" : "MISSED"}`;
  }),
]));

printSizes();
printStarts(ROUNDS * 5);

function table(head, rows) {
  console.log(`| ${head.join(" | ")} |`);
  console.log(`|---|${"---:|".repeat(head.length - 1)}`);
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
}
