// Measures one side with one body in this process and prints its CPU time per delivery, in microseconds.
//
// CPU time, not wall time: other work on the machine disturbs it less. The median of several batches is taken.

import { BODIES, delivery } from "./deliveries.mjs";
import { sides } from "./sides.mjs";

const WARM_UP_MS = 400;
const BATCH_MS = 40;
const BATCHES = 9;

const [name, body] = process.argv.slice(2);
const prepare = await sides[name]();
const verify = await prepare(delivery(BODIES.find((candidate) => candidate.name === body)));
const isPromise = typeof verify()?.then === "function";
const call = isPromise ? callInTurn : callAll;

const warmUp = Date.now() + WARM_UP_MS;
let calls = 0;
while (Date.now() < warmUp) {
  await call(10);
  calls += 10;
}
const perBatch = Math.ceil((calls * BATCH_MS) / WARM_UP_MS);

const batches = [];
for (let batch = 0; batch < BATCHES; batch += 1) {
  const before = process.cpuUsage();
  await call(perBatch);
  const { user, system } = process.cpuUsage(before);
  batches.push((user + system) / perBatch);
}
console.log(batches.sort((left, right) => left - right)[Math.floor(BATCHES / 2)]);

function callAll(count) {
  for (let index = 0; index < count; index += 1) verify();
}

async function callInTurn(count) {
  for (let index = 0; index < count; index += 1) await verify();
}
