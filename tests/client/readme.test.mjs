// The client's programs in the package's README, run as they are printed there against a real authority.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import test, { after, before } from "node:test";
import { authority } from "../openapi/authority.mjs";
import { Client } from "../../pkg/dist/esm/client/index.js";

const readme = readFileSync(new URL("../../pkg/README.md", import.meta.url), "utf8");
const section = readme.slice(readme.indexOf("## The client: "), readme.indexOf("## What there is"));
const [first, second] = [...section.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code);
const dist = new URL("../../pkg/dist/esm/", import.meta.url).href;

let service;
let client;

before(async () => {
  service = await authority();
  client = new Client({ apiKey: service.key, baseUrl: service.merchantApi });
  const line_items = [{ name: "Lamp", quantity: 1, unit_amount: 4800 }];
  const order = await client.sandbox.orders.ingest({ currency: "USD", line_items, pay: "paid" });
  assert.equal(order.order_number, "ORD-100001");
});

after(() => service?.end());

/** Runs a program of the README; only the addresses of the service and of the package differ. */
function run(code) {
  const source = code
    .replace("https://commerce.example.com", service.merchantApi)
    .replace('"verify-wasm/client"', JSON.stringify(`${dist}client/index.js`));
  const env = { ...process.env, AUTHORITY_API_KEY: service.key };
  return execFileSync(process.execPath, ["--input-type=module", "--eval", source], { env, encoding: "utf8" });
}

test("the first program reads an order and asks for a refund of it", async () => {
  run(first);
  const { data } = await client.refunds.list({ order_number: "ORD-100001" }).first();
  assert.deepEqual(data.map(({ amount, reason }) => [amount, reason]), [[1500, "damaged"]]);
});

test("the second program catches up", async () => {
  const around = `
    import { Client } from "verify-wasm/client";
    import { createMemoryStore } from ${JSON.stringify(`${dist}stores/memory.js`)};
    const client = new Client({ apiKey: process.env.AUTHORITY_API_KEY, baseUrl: "https://commerce.example.com" });
    const store = createMemoryStore();
    const loadCursor = async () => null;
    const saveCursor = async (cursor) => console.log(cursor);
    const fulfil = async (event) => console.log(event.id);
  `;
  const expected = [];
  for await (const page of client.events.list().pages()) {
    expected.push(...page.data.map((event) => event.id), page.resume_cursor);
  }
  assert.deepEqual(run(around + second).trim().split("\n"), expected);
});
