// Signed deliveries, as the sender makes them.

import { sign } from "verify-wasm";

export const SECRET = "whsec_of_the_store_tests";

/** The text of an event. */
export function eventText(id, more = {}) {
  return JSON.stringify({
    id,
    type: "order.confirmed",
    api_version: "2026-09-01",
    created_at: "2026-09-01T12:00:00.000Z",
    merchant: { id: "mer_1", slug: "a" },
    data: { object: {} },
    ...more,
  });
}

/** A request with a signed event. */
export function delivery(id, { secret = SECRET, text = eventText(id), now = Date.now } = {}) {
  const headers = { "content-type": "application/json", ...sign(secret, text, { now, eventId: id }) };
  return new Request("http://receiver/", { method: "POST", headers, body: text });
}

/** Status and code of an answer. */
export async function answered(response) {
  return [response.status, (await response.json()).code];
}
