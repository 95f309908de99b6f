// Any sequence of calls has the same answers from every store: random ones, the same at every run, beside the store in
// memory, which is short enough to be read.
//
// Leases and waits are either over at once or not over before the test is, so no answer depends on the time.

import assert from "node:assert/strict";
import test from "node:test";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { record } from "./conformance.mjs";

const IDS = ["evt_a", "evt_b", "evt_c"];
const DURATIONS_MS = [0, 3_600_000];
const CALLS = 60;

/** Registers the test; `runs` says how many sequences. */
export function agreesWithMemory(name, open, runs = 8) {
  test(`${name}: any sequence of calls has the answers that the store in memory gives`, async (t) => {
    const outcomes = new Set();
    for (let seed = 1; seed <= runs; seed += 1) {
      const random = numbers(seed);
      const [store, model] = [await (await open(t))(), createMemoryStore()];
      const told = [`seed ${seed}`];
      for (let n = 0; n < CALLS; n += 1) {
        const [method, ...values] = call(random);
        told.push(`${method}(${values.map((value) => value.id ?? JSON.stringify(value)).join(", ")})`);
        const [answer, expected] = [await store[method](...values), await model[method](...values)];
        assert.deepEqual(answer ?? null, expected ?? null, told.join("\n"));
        assert.deepEqual(await unfinished(store), await unfinished(model), told.join("\n"));
        outcomes.add(`${method} ${answer?.outcome ?? answer}`);
      }
    }
    // A run in which something never happened would have shown little of it.
    const seen = ["claim first", "claim duplicate", "takeUp taken", "takeUp busy", "takeUp finished", "purge 1"];
    assert.deepEqual(seen.filter((outcome) => !outcomes.has(outcome)), []);
  });
}

function call(random) {
  const one = (list) => list[random(list.length)];
  const id = one(IDS);
  const attempt = one([1, 2, 3, undefined]);
  return one([
    ["claim", id, record({ receivedAt: one([1000, 2000]) }), one(DURATIONS_MS)],
    ["takeUp", id, one(DURATIONS_MS)],
    ["complete", id],
    ["fail", id, `error ${random(9)}`, { attempt, retryAfterMs: one(DURATIONS_MS) }],
    ["fail", id, `error ${random(9)}`, { attempt, retryAfterMs: 0 }],
    ["purge", new Date(one([1000, 1500, 2500]))],
  ]);
}

/** What is pending, in an order that does not depend on the clocks. */
async function unfinished(store) {
  const claims = await store.pending(100);
  const known = claims.map(({ dueAt: _, body, ...claim }) => ({ ...claim, body: Buffer.from(body).toString("hex") }));
  return known.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Numbers below a bound, by a linear congruential generator. */
function numbers(seed) {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
