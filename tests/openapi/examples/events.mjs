// One event of each type, as its owner gets it, and as a partner does where partners get a copy: by the way of an order
// that is shared with a partner all the time, and for the other types by `authority trigger`.

import assert from "node:assert/strict";

const BASKET = {
  currency: "USD",
  line_items: [{ sku: "TSHIRT-M", name: "T-shirt", quantity: 2, unit_amount: 2400 }],
  shipping: 500,
  shipping_address: { name: "Ada Byron", line1: "1 Main St", city: "Leeds", postal_code: "LS1 1AA", country: "GB" },
};

/** Them, by their types: `{ owner, partner }`. */
export async function events(service) {
  const owner = await service.enter("shop-south");
  const partner = await service.enter("warehouse");
  await owner.merchant("POST", "/webhook-endpoints", { url: "https://shop.example.com/webhooks" });
  const { id, invite_code } = await owner.merchant("POST", "/partner-connections", { label: "Warehouse" });
  await partner.merchant("POST", "/partner-connections/accept", { invite_code });
  await delivered(owner, id);
  await cancelled(owner, id);
  const shown = {};
  for (const event of await history(partner)) shown[event.type] ??= { partner: event };
  for (const type of service.eventTypes()) {
    let own = await history(owner);
    if (!own.some((event) => event.type === type)) {
      service.trigger(type, owner.key);
      own = await history(owner);
    }
    const event = own.find((event) => event.type === type);
    assert.ok(event, type);
    shown[type] = { owner: event, ...shown[type] };
  }
  return shown;
}

/** An order from its sharing to its delivery, and the end of the sharing. */
async function delivered({ merchant, sandbox }, connection) {
  const { number, payment, share } = await shared({ merchant, sandbox }, connection);
  await sandbox("POST", `/payments/${payment}/advance`, { to: "succeeded" });
  const path = `/orders/${number}`;
  await merchant("PATCH", `${path}/fulfillment`, { note: "Shelf 4" });
  await merchant("PATCH", `${path}/fulfillment`, { fulfillment_status: "fulfilled" });
  const parcel = { carrier: "dhl", tracking_number: "JD0146000", tracking_url: "https://track.example.com/JD0146000" };
  const { id } = await merchant("POST", `${path}/shipments`, parcel);
  await sandbox("POST", `/shipments/${id}/advance`, { to: "in_transit" });
  await sandbox("POST", `/shipments/${id}/advance`, { to: "delivered" });
  await merchant("POST", `/order-shares/${share}/revoke`);
}

async function cancelled({ merchant, sandbox }, connection) {
  const { number } = await shared({ merchant, sandbox }, connection);
  await sandbox("POST", `/orders/${number}/cancel`, { reason: "customer_request" });
}

/** An order whose money is on its way, in the hands of the partner. */
async function shared({ merchant, sandbox }, connection_id) {
  const checkout = await sandbox("POST", "/checkouts", BASKET);
  const { id: payment, order_number: number } = await sandbox("POST", `/checkouts/${checkout.id}/pay`, { outcome: "pending" });
  const { id: share } = await merchant("POST", `/orders/${number}/shares`, { connection_id });
  return { number, payment, share };
}

async function history({ merchant }) {
  const all = [];
  for (let cursor = ""; cursor !== undefined; ) {
    const page = await merchant("GET", `/events?limit=100&cursor=${cursor}`);
    all.push(...page.data);
    cursor = page.next_cursor;
  }
  return all;
}
