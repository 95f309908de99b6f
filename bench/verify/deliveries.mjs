// The deliveries that every side verifies: one order event per size, signed now, with the headers of a request.

import { createHmac } from "node:crypto";

/** A made-up signing secret. */
export const SECRET = `whsec_${"benchmark".repeat(5)}`;

/** Sizes of the body in bytes. */
export const SIZES = [512, 2048, 16384];

/** A delivery whose body has exactly `size` bytes, with order lines as it grows. */
export function delivery(size) {
  const lines = [];
  let body = event(lines);
  for (;;) {
    const longer = [...lines, { sku: `SKU-${lines.length}`, name: "A thing that is sold", quantity: 2, unit_price: 1999 }];
    const text = event(longer);
    if (text.length > size) break;
    lines.push(longer.at(-1));
    body = text;
  }
  // Blanks after the text are part of the signed bytes.
  const bytes = Buffer.from(body.padEnd(size, " "));
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", SECRET).update(`${timestamp}.`).update(bytes).digest("hex");
  const headers = {
    host: "receiver.example",
    accept: "*/*",
    "content-type": "application/json",
    "content-length": String(bytes.length),
    "user-agent": "authority/0.2.0",
    "service-event-id": "evt_01k4m2v7q8r9s0t1u2v3w4x5y6",
    "service-timestamp": timestamp,
    "service-signature": `v1=${signature}`,
    "service-version": "2026-09-01",
  };
  return { body: bytes, headers };
}

function event(lines) {
  return JSON.stringify({
    id: "evt_01k4m2v7q8r9s0t1u2v3w4x5y6",
    type: "order.confirmed",
    api_version: "2026-09-01",
    created_at: "2026-09-01T12:00:00.000Z",
    sequence: 42,
    livemode: true,
    merchant: { id: "mer_01k4m2v7q8r9s0t1u2v3w4x5y6", slug: "demo" },
    data: { object: { order_number: "ORD-1042", status: "confirmed", payment_status: "paid", lines } },
    links: { resource: "/v1/merchant/orders/ORD-1042" },
  });
}
