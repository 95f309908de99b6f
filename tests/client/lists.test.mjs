// A list that is longer than memory should be: one page is held at a time.
//
// The reader is a process of its own whose heap may grow by ten mebibytes and no more, while somebody writes.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { authority } from "../openapi/authority.mjs";
import { Client } from "../../pkg/dist/esm/client/index.js";

const EVENTS = 10_000;
const GROWTH_MAX = 10 * 1024 * 1024;
const reader = fileURLToPath(new URL("reader.mjs", import.meta.url));

test(`${EVENTS} events are read in constant memory while a writer works`, async (t) => {
  const service = await authority();
  t.after(() => service.end());
  const client = new Client({ apiKey: service.key, baseUrl: service.merchantApi });
  let written = 0;
  for (let seed = 1; written < EVENTS; seed += 1) {
    await client.sandbox.seed({ orders: 100, seed });
    written = await eventsSoFar(client);
  }
  const child = spawn(process.execPath, ["--expose-gc", reader, service.merchantApi, String(EVENTS)], {
    env: { ...process.env, AUTHORITY_API_KEY: service.key },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  let reads = true;
  const exited = new Promise((resolve) => child.once("exit", resolve)).then((code) => {
    reads = false;
    return code;
  });
  let more = 0;
  while (reads) {
    const line_items = [{ name: "Mug", quantity: 1, unit_amount: 900 }];
    await client.sandbox.orders.ingest({ currency: "USD", line_items, pay: "paid" });
    more += 1;
  }
  assert.equal(await exited, 0);
  const { read, gaps, grown } = JSON.parse(said);
  assert.ok(more > 0 && read >= EVENTS, `${read} events read beside ${more} orders`);
  assert.equal(gaps, 0);
  assert.ok(grown <= GROWTH_MAX, `memory grew by ${grown} bytes`);
  t.diagnostic(`${read} events, ${more} orders beside, ${(grown / 1024 / 1024).toFixed(1)} MiB`);
});

/** A checkpoint behind the first event says how many are behind it. */
async function eventsSoFar(client) {
  const checkpoint = await client.checkpoints.acknowledge({
    name: "count",
    cursor: (await client.events.list({ limit: 1 }).first()).resume_cursor,
  });
  return checkpoint.lag_events + 1;
}
