// The snippet of the README's section "Types", compiled as it is printed there (readme.test.mjs compares).

import { Verifier, type WebhookEvent } from "verify-wasm";

const verifier = new Verifier(process.env.SIGNING_SECRET!);

export function inWords(body: Uint8Array, headers: Headers): string {
  const event: WebhookEvent = verifier.verify(body, headers);
  switch (event.type) {
    case "order.confirmed": {
      if (event.recipient) return "another merchant's order, shared with us"; // a SharedOrder
      const order = event.data.object; // an Order
      return `${order.order_number}: ${order.amounts.total} ${order.currency}, ${order.line_items.length} lines`;
    }
    case "refund.failed":
      return event.data.object.failure?.message ?? "no reason given"; // a Refund
    default:
      return `passed over: ${event.type}`; // also what a later version of the service sends
  }
}
