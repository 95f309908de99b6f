// The start: CPU time of a fresh process from the import to the first verdict, less that of a process that does
// everything but this. Beside it, importing `standardwebhooks` alone. The verdict of the goals is a refusal, for which
// nothing of the body is read; that of an accepted event is shown beside it.

import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { fileURLToPath } from "node:url";
import { START_MAX } from "./goals.mjs";

const SECRET = `whsec_${"YmVu".repeat(10)}`;
/** What is not measured: everything up to here, and the body. */
const BEFORE = `const body = ${JSON.stringify(JSON.stringify({ id: "evt_1", pad: "x".repeat(2000) }))}; const before = process.cpuUsage();`;
const AFTER = "const { user, system } = process.cpuUsage(before); console.log(user + system);";

const ours = new URL("../../pkg/dist/", import.meta.url);
const starts = {
  "verify-wasm, import to first verdict": {
    type: "module",
    code: `const { Verifier } = await import("${ours}esm/node.js"); new Verifier("${SECRET}").check(body, HEADERS);`,
  },
  "verify-wasm by require, to first verdict": {
    type: "commonjs",
    code: `const { Verifier } = require("${ours.pathname}cjs/node.js"); new Verifier("${SECRET}").check(body, HEADERS);`,
  },
  "verify-wasm by require, to first accepted event": {
    type: "commonjs",
    code: `const { Verifier } = require("${ours.pathname}cjs/node.js"); if (!new Verifier("${SECRET}").check(EVENT, SIGNED).ok) throw new Error();`,
  },
  "standardwebhooks, import alone": { type: "module", code: 'await import("standardwebhooks");' },
  "standardwebhooks by require, alone": { type: "commonjs", code: 'require("standardwebhooks");' },
};
/** A signature that is not the body's takes the same way up to the comparison. */
const HEADERS = `{ "service-timestamp": String(Math.floor(Date.now() / 1000)), "service-signature": "v1=${"0".repeat(64)}", "service-event-id": "evt_1" }`;

/** An event as long as that body. */
const EVENT = JSON.stringify({
  id: "evt_1", type: "webhook.test", api_version: "2026-09-01", created_at: "2026-09-01T12:00:00.000Z",
  merchant: { id: "mer_1", slug: "demo" }, data: { object: {} }, pad: "x".repeat(1850),
});

/** What it is delivered with now. */
function signed() {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const digest = createHmac("sha256", SECRET).update(`${timestamp}.${EVENT}`).digest("hex");
  return { "service-timestamp": timestamp, "service-signature": `v1=${digest}`, "service-event-id": "evt_1" };
}

function start({ type, code }) {
  const words = { HEADERS, EVENT: `'${EVENT}'`, SIGNED: JSON.stringify(signed()) };
  const source = `${BEFORE} ${code.replace(/\b(HEADERS|EVENT|SIGNED)\b/g, (word) => words[word])} ${AFTER}`;
  const output = execFileSync(process.execPath, [`--input-type=${type}`, "--eval", source], { cwd: fileURLToPath(new URL(".", import.meta.url)) });
  return Number(output) / 1000;
}

export function printStarts(rounds) {
  const names = Object.keys(starts);
  const figures = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) figures.get(name).push(start(starts[name]));
  }
  const typical = (name) => figures.get(name).sort((left, right) => left - right)[Math.floor(rounds / 2)];
  console.log(`\nStart, CPU ms, medians of ${rounds} processes:\n`);
  console.log("| | ms |\n|---|---:|");
  for (const name of names) console.log(`| ${name} | ${typical(name).toFixed(1)} |`);
  for (const [mine, other] of [[names[0], names[3]], [names[1], names[4]]]) {
    const ratio = typical(mine) / typical(other);
    const verdict = ratio <= START_MAX ? "reached" : "MISSED";
    console.log(`\n${mine} : ${other}: ${ratio.toFixed(2)} (at most ${START_MAX}) ${verdict}`);
  }
}
