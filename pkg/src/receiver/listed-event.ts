// An event of the event list, made ready to be claimed.
//
// Reconciliation reads `GET /events` with an API key. What comes from there is genuine because of the connection, carries
// no signature, and goes the same way as a delivery from the claim on (contract 11.2).

import type { Genuine } from "./claimed-work.js";
import type { WebhookEvent } from "../types.js";

const encoder = new TextEncoder();

/**
 * Reads what a claim needs. What is stored as the body is the event as JSON; the list has no signed bytes.
 *
 * @throws {TypeError} it is no event
 */
export function listedEvent(event: WebhookEvent): Genuine {
  const { id, type, created_at: createdAt, merchant, livemode = null } = (event ?? {}) as Partial<WebhookEvent>;
  const isEvent =
    typeof id === "string" &&
    /^evt_[0-9A-Za-z_-]{1,124}$/.test(id) && // contract 10.3: it becomes a key
    typeof type === "string" &&
    typeof createdAt === "string" &&
    typeof merchant?.id === "string" &&
    (livemode === null || typeof livemode === "boolean");
  if (!isEvent) throw new TypeError("event must be an event as GET /events lists it");
  const body = encoder.encode(JSON.stringify(event));
  const record = { type, createdAt, merchantId: merchant.id, livemode, receivedAt: Date.now(), body };
  return { id, record, event: () => event };
}
