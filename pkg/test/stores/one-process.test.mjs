// A store without `takeUp`: who is at work is known in the process, by everybody in it, whatever the store's answers
// cross with. What a receiver alone makes of such a store is in `receiver.test.mjs`.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";
import { createReceiver } from "verify-wasm";
import { Client } from "verify-wasm/client";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { SECRET, answered, delivery, eventText } from "./deliveries.mjs";

const require = createRequire(import.meta.url);
const DONE = [200, "ok"];
const DUPLICATE = [200, "duplicate"];
const IN_PROGRESS = [500, "in_progress"];
const FAILED = [500, "processing_failed"];

/** A promise, and what settles it. */
function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { open, opened };
}

/** The four methods of the contract, each with what a test puts in its place. */
function fourMethods(more = {}) {
  const whole = createMemoryStore();
  const store = {
    claim: (id, record) => whole.claim(id, record),
    complete: (id) => whole.complete(id),
    fail: (id, error) => whole.fail(id, error),
    pending: (limit) => whole.pending(limit),
  };
  return { ...store, ...Object.fromEntries(Object.entries(more).map(([name, method]) => [name, method(store[name])])) };
}

/** What is asked of a store in memory is answered in this turn of the event loop. */
const nextTurn = () => new Promise(setImmediate);

/** A client whose event list has one event. */
function listing(Class, id) {
  const page = { object: "list", data: [JSON.parse(eventText(id))], resume_cursor: "c1" };
  const fetch = async () => new Response(JSON.stringify(page), { headers: { "content-type": "application/json" } });
  return new Class({ apiKey: `svc_test_${"a".repeat(49)}`, baseUrl: "https://commerce.test", fetch });
}

for (const [name, receiverOf, Class] of [
  ["ES modules", createReceiver, Client],
  ["CommonJS", require("verify-wasm").createReceiver, require("verify-wasm/client").Client],
  ["both", createReceiver, require("verify-wasm/client").Client],
]) {
  test(`whoever catches up waits for the receiver that is at work (${name})`, async () => {
    const [begun, claimed, end] = [gate(), gate(), gate()];
    const store = fourMethods({
      claim: (claim) => async (...given) => {
        const answer = await claim(...given);
        if (answer === "duplicate") claimed.open();
        return answer;
      },
    });
    const acted = [];
    const onEvent = () => {
      acted.push("delivery");
      begun.open();
      return end.opened;
    };
    const receive = receiverOf({ secret: SECRET, store, onEvent });
    const delivered = receive(delivery("evt_1"));
    await begun.opened;
    const saved = [];
    const caughtUp = listing(Class, "evt_1").events.catchUp({
      store,
      process: () => acted.push("list"),
      save: (cursor) => saved.push(cursor),
    });
    await claimed.opened;
    await nextTurn();
    assert.deepEqual([acted, saved], [["delivery"], []]);
    end.open();
    assert.deepEqual(await answered(await delivered), DONE);
    assert.equal(await caughtUp, "c1");
    assert.deepEqual([acted, saved], [["delivery"], ["c1"]]);
  });
}

test("an answer of the store that is older than the end of the event is not believed", async () => {
  const late = gate();
  let asked = 0;
  const store = fourMethods({
    pending: (pending) => async (limit) => {
      const answer = await pending(limit);
      asked += 1;
      if (asked === 2) await late.opened;
      return answer;
    },
  });
  const attempts = [];
  const onEvent = (_, { attempt }) => {
    attempts.push(attempt);
    if (attempt === 1) throw new Error("the shelf is empty");
  };
  const options = { onFailure: "ask-for-redelivery", onError: () => {} };
  const receive = createReceiver({ secret: SECRET, store, onEvent, ...options });
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), FAILED);
  const [first, second] = [receive(delivery("evt_1")), receive(delivery("evt_1"))];
  assert.deepEqual(await answered(await first), DONE);
  late.open();
  assert.deepEqual(await answered(await second), IN_PROGRESS);
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), DUPLICATE);
  assert.deepEqual(attempts, [1, 2]);
});

test("what a handler has done after its lease is not done again by an answer from before", async () => {
  const [handler, asked, answer] = [gate(), gate(), gate()];
  const store = fourMethods({
    pending: (pending) => async (limit) => {
      const unfinished = await pending(limit);
      asked.open();
      await answer.opened;
      return unfinished;
    },
    complete: (complete) => async (id) => {
      await complete(id);
      answer.open();
    },
  });
  const attempts = [];
  const onEvent = (_, { attempt }) => {
    attempts.push(attempt);
    return handler.opened;
  };
  const options = { onFailure: "ask-for-redelivery", onError: () => {}, leaseSeconds: 0.02 };
  const receive = createReceiver({ secret: SECRET, store, onEvent, ...options });
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), FAILED);
  const again = receive(delivery("evt_1"));
  await asked.opened;
  handler.open();
  assert.deepEqual(await answered(await again), IN_PROGRESS);
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), DUPLICATE);
  assert.deepEqual(attempts, [1]);
});
