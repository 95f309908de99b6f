// Workers: the Durable Object and the store over it, both in workerd, from the modules of the installed package.
//
// The Worker passes what the tests ask on to its store, and has a receiver over that store. Its second handle shares
// nothing with the first but the bindings.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import test, { after } from "node:test";
import { Miniflare } from "miniflare";
import { agreesWithMemory } from "./agreement.mjs";
import { conformance, record } from "./conformance.mjs";
import { answered, delivery } from "./deliveries.mjs";
import { folder } from "./folder.mjs";
import { keptIn, options, remoteStore } from "./worker.mjs";

async function start(t, state = folder(t)) {
  const runtime = new Miniflare({ ...options, ...keptIn(state) });
  t.after(() => runtime.dispose());
  await runtime.ready;
  return runtime;
}

const shared = new Miniflare({ ...options, ...keptIn(folder({ after })) });
after(() => shared.dispose());
let places = 0;
for (const [title, query] of [["with KV", ""], ["without KV", "without-kv&"]]) {
  const open = () => {
    places += 1;
    const place = `${query}place=${places}-`;
    return () => remoteStore(shared, place);
  };
  conformance(`Durable Objects ${title}`, open);
  if (query !== "") agreesWithMemory(`Durable Objects ${title}`, open, 2);
}

test("a marker is written when an event is processed, for 90 days, and spares the object", async (t) => {
  const runtime = await start(t);
  const store = remoteStore(runtime);
  const markers = await runtime.getKVNamespace("MARKERS");
  await store.claim("evt_1", record(), 0);
  assert.equal(await markers.get("evt:evt_1"), null);
  await store.complete("evt_1");
  const { keys } = await markers.list();
  assert.deepEqual(keys.map(({ name }) => name), ["evt:evt_1"]);
  const seconds = keys[0].expiration - Date.now() / 1000;
  assert.ok(Math.abs(seconds - 90 * 86_400) < 60, `${seconds}`);

  await markers.put("evt:evt_2", "marked, and unknown to every object");
  assert.equal(await store.claim("evt_2", record()), "duplicate");
  assert.deepEqual(await store.takeUp("evt_2", 0), { outcome: "finished" });
});

test("a receiver in a Worker acts once on what is delivered many times", async (t) => {
  const runtime = await start(t);
  const send = async (request) => {
    const { headers, method } = request;
    return runtime.dispatchFetch("http://worker/deliver", { method, headers: [...headers], body: await request.text() });
  };
  const answers = await Promise.all(Array.from({ length: 20 }, async () => answered(await send(delivery("evt_1")))));
  const codes = answers.map(([status, code]) => `${status} ${code}`).sort();
  assert.deepEqual(codes, [...Array(19).fill("200 duplicate"), "200 ok"]);
  assert.deepEqual(await answered(await send(delivery("evt_1", { secret: "whsec_another" }))), [401, "invalid_signature"]);

  assert.deepEqual(await answered(await send(delivery("evt_fails"))), [200, "ok"]);
  const acted = async () => (await runtime.dispatchFetch("http://worker/acted")).json();
  assert.deepEqual(await acted(), ["evt_1 1", "evt_fails 1"]);
  const retried = await runtime.dispatchFetch("http://worker/retry");
  assert.deepEqual(await retried.json(), { processed: 1, failed: 0, running: 0 });
  assert.deepEqual(await acted(), ["evt_1 1", "evt_fails 1", "evt_fails 2"]);
});

test("a claim survives the runtime's being killed", async (t) => {
  const state = folder(t);
  const first = spawn(process.execPath, [new URL("worker.mjs", import.meta.url).pathname, state], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true, // a group of its own: the signal must reach workerd too
  });
  const [line] = await once(createInterface({ input: first.stdout }), "line");
  assert.equal(line, "claimed");
  process.kill(-first.pid, "SIGKILL");
  await once(first, "exit");

  const runtime = await start(t, state);
  const store = remoteStore(runtime);
  const [{ id, status, attempts, body }] = await store.pending(10);
  assert.deepEqual([id, status, attempts, body.byteLength], ["evt_1", "received", 1, record().body.byteLength]);
  assert.equal(await store.claim("evt_1", record()), "duplicate");
  assert.deepEqual(await store.takeUp("evt_1", 0), { outcome: "taken", attempt: 2 });
});
