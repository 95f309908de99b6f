// What a receiver tells beside its answers: errors, refusals, and types that it does not know.

import assert from "node:assert/strict";
import test from "node:test";
import { createReceiver } from "verify-wasm";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { SECRET, answered, delivery, eventText } from "./stores/deliveries.mjs";

function receiving(options = {}) {
  const reported = [];
  const receiver = createReceiver({
    secret: SECRET,
    store: createMemoryStore(),
    onEvent: () => {},
    onError: (error, context) => void reported.push([context.code, context.eventId, error.message]),
    ...options,
  });
  return { receiver, reported };
}

/** An event of a type that a later version of the service may have. */
const unlisted = (id) => delivery(id, { text: eventText(id, { type: "order.returned" }) });

test("whoever is told of errors and refusals changes no answer", async () => {
  const throws = () => {
    throw new Error("again");
  };
  for (const fails of [throws, async () => throws()]) {
    const { receiver } = receiving({ onEvent: fails, onError: fails, onRefused: fails, onUnknownType: fails });
    assert.deepEqual(await answered(await receiver(unlisted("evt_1"))), [200, "ok"]);
    assert.deepEqual(await answered(await receiver(delivery("evt_1", { secret: "whsec_another" }))), [401, "invalid_signature"]);
  }
});

test("a refused delivery can be looked at", async () => {
  const refused = [];
  const { receiver, reported } = receiving({ onRefused: (...told) => void refused.push(told) });
  const request = delivery("evt_1", { secret: "whsec_another" });
  const { headers } = request;
  await receiver(request);
  await receiver(new Request("http://receiver/", { method: "POST", headers: { "content-type": "application/json" } }));
  await receiver(delivery("evt_1"));
  const [[code, first], [second, { body }]] = refused;
  assert.deepEqual([code, new TextDecoder().decode(first.body), second, body], ["invalid_signature", eventText("evt_1"), "missing_body", null]);
  assert.equal(first.headers.get("service-signature"), headers.get("service-signature"));
  assert.deepEqual([refused.length, reported], [2, []]);
});

test("a type that is not listed is told of, acted on and answered 200", async () => {
  const told = [];
  const acted = [];
  const { receiver, reported } = receiving({
    onEvent: (event) => void acted.push(event.type),
    onUnknownType: (...unknown) => void told.push(unknown),
  });
  for (const request of [unlisted("evt_1"), delivery("evt_2")]) {
    assert.deepEqual(await answered(await receiver(request)), [200, "ok"]);
  }
  assert.deepEqual(told, [["order.returned", "evt_1"]]);
  assert.deepEqual(acted, ["order.returned", "order.confirmed"]);
  assert.deepEqual(reported, []);
});

test("a type that is not listed is a line on the console", async (t) => {
  const info = t.mock.method(console, "info", () => {});
  await receiving().receiver(unlisted("evt_1"));
  assert.deepEqual(info.mock.calls.map((call) => call.arguments), [
    ['verify-wasm receiver: an event of the unknown type "order.returned" (event evt_1)'],
  ]);
});

test("what fails again and again without a wait stays due", async () => {
  const store = createMemoryStore();
  const onEvent = () => {
    throw new Error("never");
  };
  const { receiver } = receiving({ store, onEvent, retryDelaySeconds: 0 });
  await receiver(delivery("evt_1"));
  const many = 1_100; // 2 ** 1_024 is Infinity
  for (let attempt = 2; attempt <= many; attempt += 1) {
    assert.deepEqual(await receiver.retryPending(), { processed: 0, failed: 1, running: 0 });
  }
  const [{ attempts, dueAt }] = await store.pending(1);
  assert.deepEqual([attempts, Number.isSafeInteger(dueAt)], [many, true]);
});
