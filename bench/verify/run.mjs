// Verification in Node, side by side: each side in its own process, the rounds interleaved, medians printed.
//
// In one process the sides would share caches and optimisations; one after the other, a busy minute would hit one
// of them alone.

import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { SIZES } from "./deliveries.mjs";

const ROUNDS = 5;

const side = (...parameters) =>
  JSON.parse(execFileSync(process.execPath, [fileURLToPath(new URL("side.mjs", import.meta.url)), ...parameters]));

const names = side();
const rounds = Object.fromEntries(names.map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const name of names) rounds[name].push(side(name));
}

const median = (values) => values.sort((left, right) => left - right)[Math.floor(values.length / 2)];
console.log(`CPU µs per delivery, Node ${process.versions.node}, ${cpus()[0].model}, median of ${ROUNDS} processes\n`);
console.log(`| | ${SIZES.map((size) => `${size} B`).join(" | ")} |`);
console.log(`|---|${SIZES.map(() => "---:").join("|")}|`);
for (const [name, results] of Object.entries(rounds)) {
  const figures = SIZES.map((_, index) => median(results.map((result) => result[index])).toFixed(2));
  console.log(`| ${name} | ${figures.join(" | ")} |`);
}
