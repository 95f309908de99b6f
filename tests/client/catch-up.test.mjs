// Catching up and following: nothing is lost, nothing happens twice, whatever happens to the consumer.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import Database from "libsql";
import { authority } from "../openapi/authority.mjs";
import { Client, ProcessingError } from "../../pkg/dist/esm/client/index.js";
import { createMemoryStore } from "../../pkg/dist/esm/stores/memory.js";
import { dice } from "./faulty-proxy.mjs";

const KILLS = 20;
const consumer = fileURLToPath(new URL("consumer.mjs", import.meta.url));

let service;
let client;

before(async () => {
  service = await authority();
  client = new Client({ apiKey: service.key, baseUrl: service.merchantApi });
  await client.sandbox.seed({ orders: 100, seed: 3 });
});

after(() => service?.end());

async function listed() {
  const ids = [];
  for await (const event of client.events.list()) ids.push(event.id);
  return ids;
}

/** Starts a consumer and kills it after so many events; resolves to its exit code, `null` when it was killed. */
function run(folder, eventsBeforeKill) {
  const child = spawn(process.execPath, [consumer, service.merchantApi, folder], {
    env: { ...process.env, AUTHORITY_API_KEY: service.key },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let seen = 0;
  child.stdout.on("data", (chunk) => {
    seen += chunk.toString().split("\n").length - 1;
    if (seen >= eventsBeforeKill) child.kill("SIGKILL");
  });
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}

test(`a consumer killed ${KILLS} times has each effect once`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "client-consumer-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const roll = dice(2);
  for (let kill = 0; kill < KILLS; kill += 1) {
    assert.equal(await run(folder, 1 + Math.floor(roll() * 20)), null, "it ended before it was killed");
  }
  assert.equal(await run(folder, Infinity), 0);
  const database = new Database(join(folder, "effects.db"));
  const happened = database.prepare("SELECT event_id FROM effects").all().map((row) => row.event_id);
  database.close();
  assert.deepEqual(happened.toSorted(), (await listed()).toSorted());
});

test("what a webhook has brought is not processed again, and the cursor is saved when its page is done", async () => {
  const store = createMemoryStore();
  const [first] = (await client.events.list({ limit: 1 }).first()).data;
  const record = { type: first.type, createdAt: first.created_at, merchantId: first.merchant.id, livemode: false };
  await store.claim(first.id, { ...record, receivedAt: 0, body: new Uint8Array() }, 60_000);
  await store.complete(first.id);
  const story = [];
  const kept = await client.events.catchUp({
    store,
    limit: 3,
    type: "order.created",
    process: (event) => story.push(event.id),
    save: (cursor) => story.push(cursor),
  });
  const pages = [];
  for await (const page of client.events.list({ limit: 3, type: "order.created" }).pages()) {
    pages.push(...page.data.map((event) => event.id), page.resume_cursor);
  }
  assert.deepEqual(story, pages.filter((id) => id !== first.id));
  assert.equal(kept, pages.at(-1));
});

test("what fails is tried again by the next call, from the cursor before it", async () => {
  const store = createMemoryStore();
  const saved = [];
  const attempts = [];
  let fails = true;
  const options = {
    store,
    limit: 2,
    type: ["order.created"],
    process: (event, { attempt }) => {
      attempts.push([event.id, attempt]);
      if (fails && attempts.length === 4) throw new Error("the warehouse is closed");
    },
    save: (cursor) => saved.push(cursor),
  };
  await assert.rejects(client.events.catchUp(options), (error) => {
    assert.ok(error instanceof ProcessingError);
    assert.match(error.message, /could not be processed: the warehouse is closed/);
    assert.equal(error.id, attempts[3][0]);
    return true;
  });
  assert.equal(saved.length, 1);
  fails = false;
  const before = attempts.length;
  await client.events.catchUp({ ...options, from: saved.at(-1) });
  assert.deepEqual(attempts[before], [attempts[3][0], 2], "the one that failed comes first, as its second attempt");
  assert.equal(new Set(attempts.map(([id]) => id)).size, attempts.length - 1);
});

test("an event that somebody else never lets go of ends the call", async (t) => {
  let now = performance.now();
  t.mock.method(performance, "now", () => now);
  const store = {
    ...createMemoryStore(),
    claim: async () => "duplicate",
    takeUp: async () => {
      now += 301_000;
      return { outcome: "busy" };
    },
  };
  const never = () => assert.fail("nothing is done");
  const [first] = (await client.events.list({ limit: 1 }).first()).data;
  await assert.rejects(client.events.catchUp({ store, process: never, save: never }), (error) => {
    assert.ok(error instanceof ProcessingError);
    assert.equal(error.id, first.id);
    assert.match(error.message, /somebody else is working on it, or its last attempt failed/);
    return true;
  });
});

test("follows the list until it is told to end", async () => {
  let from;
  for await (const page of client.events.list({ type: "order.confirmed" }).pages()) from = page.resume_cursor;
  const end = new AbortController();
  const seen = [];
  const line_items = [{ name: "Mug", quantity: 1, unit_amount: 900 }];
  const following = client.events.catchUp({
    from,
    follow: true,
    pollMs: 10,
    signal: end.signal,
    store: createMemoryStore(),
    save: () => {},
    type: "order.confirmed",
    process: (event) => {
      seen.push(event.data.object.order_number);
      if (seen.at(-1) === "FOLLOWED-2") end.abort();
    },
  });
  for (const order_number of ["FOLLOWED-1", "FOLLOWED-2"]) {
    await client.sandbox.orders.ingest({ order_number, currency: "USD", line_items, pay: "paid" });
  }
  assert.equal(typeof (await following), "string");
  assert.deepEqual(seen.slice(-2), ["FOLLOWED-1", "FOLLOWED-2"]);
});

test("the feed of orders goes on at its checkpoint", async () => {
  const seen = [];
  const read = () => client.sync.orders.catchUp({ checkpoint: "warehouse", process: (change) => seen.push(change.order_number) });
  const cursor = await read();
  assert.ok(seen.length >= 100, `${seen.length} orders`);
  assert.equal(new Set(seen).size, seen.length, "each order comes once, as it is now");
  seen.length = 0;
  assert.equal(await read(), cursor);
  assert.deepEqual(seen, []);
  const [order] = (await client.orders.list({ limit: 1, status: "confirmed" }).first()).data;
  await client.externalReferences.set(order.order_number, "erp", { id: "E-1" });
  await read();
  assert.deepEqual(seen, [order.order_number]);
});
