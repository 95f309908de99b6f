// The generated client, compiled, against a running service: the catch-up procedure and a refund.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { authority } from "./authority.mjs";
import { catchUp, refund } from "./generated/built/client.js";

const line_items = [{ name: "T-shirt", quantity: 2, unit_amount: 2400 }];
let service;

before(async () => {
  service = await authority();
});

after(() => service?.end());

test("catches up, goes on where it ended, and hears of its refund", async () => {
  await service.sandbox("POST", "/seed", { orders: 10, seed: 7 });
  const first = [];
  const cursor = await catchUp(service.merchantApi, service.key, undefined, (event) => first.push(event));
  assert.deepEqual(first.map((event) => event.sequence), first.map((_, n) => n + 1));
  assert.ok(first.length > 7, "more than one page");

  const order = await service.sandbox("POST", "/orders", { currency: "USD", line_items, pay: "paid" });
  const asked = await refund(service.merchantApi, service.key, order.order_number, 1500, "refund:return-9");
  assert.deepEqual([asked.refund.status, asked.refund.amount, asked.replayed], ["requested", 1500, false]);
  const again = await refund(service.merchantApi, service.key, order.order_number, 1500, "refund:return-9");
  assert.deepEqual([again.refund.id, again.replayed], [asked.refund.id, true]);

  const later = [];
  await catchUp(service.merchantApi, service.key, cursor, (event) => later.push(event));
  assert.deepEqual(later.map((event) => event.type), [
    "order.created", "payment.created", "payment.succeeded", "order.confirmed", "refund.requested", "order.updated",
  ]);
  assert.equal(later[4].data.object.id, asked.refund.id);
});

test("is told why it is refused", async () => {
  await assert.rejects(
    refund(service.merchantApi, service.key, "ORD-1", 1500, "refund:nothing"),
    /^Error: not_found: /,
  );
});
