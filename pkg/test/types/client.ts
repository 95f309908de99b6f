// Compiled, never run: what a program may write with the client, and what the compiler must refuse.

import type { Order, RefundRequest, WebhookEvent } from "verify-wasm/client";
import { ApiError, Client, RefundAmountExceededError } from "verify-wasm/client";
import { createMemoryStore } from "verify-wasm/stores/memory";

const client = new Client({ apiKey: "svc_test_x", baseUrl: "https://commerce.example.com", fetch });

export async function read(): Promise<string[]> {
  const numbers: string[] = [];
  for await (const order of client.orders.list({ status: ["confirmed"], created_from: new Date() })) {
    numbers.push(order.order_number);
  }
  for await (const page of client.events.list({ type: "order.*" }).pages()) numbers.push(page.resume_cursor ?? "");
  return numbers;
}

export async function write(order: Order, request: RefundRequest): Promise<string> {
  try {
    const refund = await client.refunds.request(order.order_number, request, { ifMatch: order.resource_version });
    return refund.id;
  } catch (error) {
    if (error instanceof RefundAmountExceededError) {
      const code: "refund_amount_exceeded" = error.code;
      return code;
    }
    if (error instanceof ApiError) return `${error.status} ${error.code} ${error.requestId}`;
    throw error;
  }
}

export async function follow(signal: AbortSignal): Promise<void> {
  await client.events.catchUp({
    store: createMemoryStore(),
    follow: true,
    signal,
    process: (event: WebhookEvent) => {
      if (event.type === "payment.succeeded") console.log(event.data.object.amount_captured);
      // @ts-expect-error an event of another type may have no such record
      console.log(event.data.object.amount_captured);
    },
    save: async (cursor) => console.log(cursor.length),
  });
}

export function wrong(): void {
  // @ts-expect-error there is no such filter
  client.orders.list({ crusor: "x" });
  // @ts-expect-error there is no such status
  client.orders.list({ status: "paid" });
  // @ts-expect-error a merchant does not write money
  void client.orders.fulfillment("ORD-1", { note: "Shelf 4", amounts: {} });
  // @ts-expect-error a parcel has a carrier
  void client.shipments.create("ORD-1", {});
  // @ts-expect-error a read takes no idempotency key
  void client.orders.get("ORD-1", { idempotencyKey: "a" });
  // @ts-expect-error there is no such operation
  void client.orders.delete("ORD-1");
  // @ts-expect-error a client has a key
  new Client({ baseUrl: "https://commerce.example.com" });
}
