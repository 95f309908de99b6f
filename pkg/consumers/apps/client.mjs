// A merchant's program, for any runtime: reads two pages, and asks for a refund whose first answer is lost.

import { Client, NotFoundError } from "verify-wasm/client";

export async function story(baseUrl) {
  const client = new Client({ apiKey: `svc_test_${"a".repeat(49)}`, baseUrl });
  const orders = [];
  for await (const order of client.orders.list({ status: ["confirmed", "completed"] })) orders.push(order.order_number);
  const refund = await client.refunds.request("ORD-1", { amount: 1500, reason: "damaged" }, { ifMatch: 7 });
  const missing = await client.orders.get("ORD-0").catch((error) => [error instanceof NotFoundError, error.name]);
  return { orders, refund: refund.id, missing };
}
