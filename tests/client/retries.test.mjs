// A network at its worst: what was asked for once is done once.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { authority } from "../openapi/authority.mjs";
import { Client } from "../../pkg/dist/esm/client/index.js";
import { faultyProxy } from "./faulty-proxy.mjs";

const REFUNDS = 1000;
const AT_ONCE = 250;
const line_items = [{ name: "Ticket", quantity: 1000, unit_amount: 2400 }];

let service;

before(async () => {
  service = await authority();
});

after(() => service?.end());

test(`${REFUNDS} refunds through a faulty network are ${REFUNDS} refunds`, async () => {
  const direct = new Client({ apiKey: service.key, baseUrl: service.merchantApi });
  const order = await direct.sandbox.orders.ingest({ currency: "USD", line_items, pay: "paid" });
  const proxy = await faultyProxy(service.merchantApi, 1);
  let tries = 0;
  const client = new Client({
    apiKey: service.key,
    baseUrl: proxy.url,
    maxRetries: 20,
    deadlineMs: 600_000,
    onRequest: () => {
      tries += 1;
    },
  });
  const answered = [];
  let asked = 0;
  const ask = async () => {
    while (asked < REFUNDS) {
      asked += 1;
      const amount = asked;
      answered.push({ amount, refund: await client.refunds.request(order.order_number, { amount, reason: "other" }) });
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
  } finally {
    await proxy.end();
  }
  assert.ok(tries > REFUNDS * 1.3, `${tries} tries: the network was not faulty`);
  for (const [fault, times] of Object.entries(proxy.faults)) assert.ok(times > 0, `${fault} did not happen`);
  for (const { amount, refund } of answered) assert.equal(refund.amount, amount);

  const recorded = [];
  for await (const refund of direct.refunds.list({ order_number: order.order_number, limit: 100 })) recorded.push(refund);
  const byId = (list) => list.map(({ id, amount }) => `${id} ${amount}`).sort();
  assert.equal(recorded.length, REFUNDS);
  assert.deepEqual(byId(recorded), byId(answered.map(({ refund }) => refund)));
});
