// Measures one side in this process and prints its CPU time per delivery, in microseconds, for each size.
//
// CPU time, not wall time: other work on the machine disturbs it less. The median of several batches is taken.

import { createHmac, timingSafeEqual } from "node:crypto";
import { SECRET, SIZES, delivery } from "./deliveries.mjs";

const WARM_UP_MS = 400;
const BATCH_MS = 120;
const BATCHES = 9;

/** Each side is made once, as a receiver would, and then called for every delivery. */
const sides = {
  "verify-wasm verify": async () => {
    const { Verifier } = await import("../../pkg/dist/esm/index.js");
    const verifier = new Verifier(SECRET);
    return ({ body, headers }) => verifier.verify(body, headers);
  },
  "verify-wasm verifyEnvelope": async () => {
    const { Verifier } = await import("../../pkg/dist/esm/index.js");
    const verifier = new Verifier(SECRET);
    return ({ body, headers }) => verifier.verifyEnvelope(body, headers);
  },
  // Signature only, none of the other rules: what is written by hand with Node alone.
  "node:crypto HMAC + JSON.parse": async () => ({ body, headers }) => {
    const digest = createHmac("sha256", SECRET).update(`${headers["service-timestamp"]}.`).update(body).digest("hex");
    const candidate = headers["service-signature"].slice("v1=".length);
    if (!timingSafeEqual(Buffer.from(candidate), Buffer.from(digest))) throw new Error("invalid signature");
    return JSON.parse(body.toString());
  },
  // The floor for anything that returns an event.
  "JSON.parse alone": async () => ({ body }) => JSON.parse(body.toString()),
};

if (process.argv[2] === undefined) {
  console.log(JSON.stringify(Object.keys(sides)));
} else {
  const verify = await sides[process.argv[2]]();
  console.log(JSON.stringify(SIZES.map((size) => measure(verify, delivery(size)))));
}

function measure(verify, request) {
  const calls = callsPerBatch(verify, request);
  const batches = Array.from({ length: BATCHES }, () => {
    const before = process.cpuUsage();
    for (let call = 0; call < calls; call += 1) verify(request);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls;
  });
  return batches.sort((left, right) => left - right)[Math.floor(BATCHES / 2)];
}

/** Warms up, and finds out how many calls fill a batch. */
function callsPerBatch(verify, request) {
  const end = performance.now() + WARM_UP_MS;
  let calls = 0;
  while (performance.now() < end) {
    for (let call = 0; call < 100; call += 1) verify(request);
    calls += 100;
  }
  return Math.ceil((calls * BATCH_MS) / WARM_UP_MS);
}
