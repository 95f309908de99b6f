// A merchant's program against the generated types: what is wrong with a name, a type or a missing member does not compile.
// It catches up with the event history, asks for a refund, and reads what is delivered to it, with a client that knows
// nothing but the document.

import createClient from "openapi-fetch";
import type { components, paths, webhooks } from "./generated/merchant.js";

export type Event = components["schemas"]["Event"];
export type Refund = components["schemas"]["Refund"];
type Problem = components["schemas"]["Problem"];

/** The event history of one merchant and mode, read once and in order; `cursor` is where the last run ended. */
export async function catchUp(
  baseUrl: string,
  key: string,
  cursor: string | undefined,
  process: (event: Event) => void,
): Promise<string> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });
  const claimed = new Set<string>();
  let at = cursor;
  for (;;) {
    const { data, error } = await client.GET("/v1/merchant/events", {
      params: { query: { limit: 7, ...(at === undefined ? {} : { cursor: at }) } },
    });
    if (error !== undefined) throw refused(error);
    for (const event of data.data) {
      if (claimed.has(event.id)) continue;
      claimed.add(event.id);
      process(event);
    }
    at = data.resume_cursor;
    if (data.next_cursor === undefined) return at;
  }
}

/** Asks for a refund of an order as it is now; the same `logicalWrite` gives the same refund. */
export async function refund(
  baseUrl: string,
  key: string,
  order: string,
  amount: number,
  logicalWrite: string,
): Promise<{ refund: Refund; replayed: boolean }> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });
  const read = await client.GET("/v1/merchant/orders/{order}", { params: { path: { order } } });
  if (read.error !== undefined) throw refused(read.error);
  if (read.data === undefined) throw new Error("nobody said which version is known");
  const { data, error, response } = await client.POST("/v1/merchant/orders/{order}/refunds", {
    params: {
      path: { order },
      header: { "Idempotency-Key": logicalWrite, "If-Match": `"${read.data.resource_version}"` },
    },
    body: { amount, reason: "damaged" },
  });
  if (error !== undefined) throw refused(error);
  return { refund: data, replayed: response.headers.get("idempotent-replayed") === "true" };
}

/** The body of a delivery of this type, once it is verified. */
export type Delivered<Type extends keyof webhooks> =
  webhooks[Type]["post"]["requestBody"]["content"]["application/json"];

/** What is to be packed, and for whom: of an own order, or of one that a partner shares. */
export function toPack(event: Delivered<"order.confirmed">): { order: string; lines: number; for: string } {
  const { order_number, line_items } = event.data.object;
  const owner = event.recipient === undefined ? "us" : event.merchant.slug;
  return { order: order_number, lines: line_items.length, for: owner };
}

function refused(problem: Problem): Error {
  return new Error(`${problem.code}: ${problem.detail}`);
}

// What must not compile.
export function wrong(client: ReturnType<typeof createClient<paths>>): void {
  // @ts-expect-error there is no such filter
  void client.GET("/v1/merchant/orders", { params: { query: { crusor: "x" } } });
  // @ts-expect-error there is no such status
  void client.GET("/v1/merchant/orders", { params: { query: { status: ["paid"] } } });
  // @ts-expect-error a merchant does not write money
  const body: components["schemas"]["FulfillmentRequest"] = { note: "Shelf 4", amounts: {} };
  void client.PATCH("/v1/merchant/orders/{order}/fulfillment", { params: { path: { order: "ORD-1" } }, body });
  // @ts-expect-error a parcel has a carrier
  void client.POST("/v1/merchant/orders/{order}/shipments", { params: { path: { order: "ORD-1" } }, body: {} });
  // @ts-expect-error there is no such event
  type Nothing = Delivered<"order.exploded">;
  // @ts-expect-error a checkout cannot be read, so its events do not say where
  const link = (event: Delivered<"checkout.created">): string => event.links.resource;
}
