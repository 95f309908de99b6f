// The deliveries that every side verifies: one event per size, signed now, with the headers of a request.
//
// Bodies are events as the authority renders them: a payment in the smallest, orders with more and more lines in the
// others. A note of words brings each to its exact size. All are ASCII but the one that says so: its customer has an
// umlaut, as customers do, and so its text cannot be taken byte by byte.

import { createHmac } from "node:crypto";

/** A made-up signing secret, in the forms of both schemes. */
export const SECRET = `whsec_${"benchmark0".repeat(4)}`;

/** The bodies by name, with their sizes in bytes. */
export const BODIES = [
  { name: "512 B", size: 512 },
  { name: "2 KB", size: 2048 },
  { name: "16 KB", size: 16_384 },
  { name: "256 KB", size: 262_144 },
  { name: "2 KB, not ASCII", size: 2048, customer: "Ren\u00e9e M\u00fcller" },
];

const EVENT_ID = "evt_01k4m2v7q8r9s0t1v2w3x4y5z6";
const WORDS = "please leave the parcel with the neighbours on the second floor and ring twice thank you very much ".split(" ");

/** A delivery of one of the bodies: its bytes, its text, and the headers in this service's scheme. */
export function delivery({ size, customer = "Rosa Miller" }) {
  const text = filled(size < 1024 ? payment : (note) => order(note, linesThatFit(size, customer), customer), size);
  const body = Buffer.from(text);
  if (body.length !== size) throw new Error(`the body has ${body.length} bytes instead of ${size}`);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", SECRET).update(`${timestamp}.`).update(body).digest("hex");
  const headers = {
    host: "receiver.example",
    accept: "*/*",
    "content-type": "application/json",
    "content-length": String(size),
    "user-agent": "authority/0.2.0",
    "service-event-id": EVENT_ID,
    "service-timestamp": timestamp,
    "service-signature": `v1=${signature}`,
    "service-version": "2026-09-01",
  };
  return { body, text, timestamp, headers };
}

/** What `make` gives with a note that brings it to exactly this size. */
function filled(make, size) {
  const missing = size - Buffer.byteLength(make(""));
  let note = "";
  for (let word = 0; note.length < missing; word += 1) note += `${WORDS[word % WORDS.length]} `;
  return make(note.slice(0, missing));
}

function linesThatFit(size, customer) {
  let lines = 0;
  let length = Buffer.byteLength(order("", 0, customer));
  for (;;) {
    length += Buffer.byteLength(JSON.stringify(line(lines))) + 1;
    if (length > size) return lines;
    lines += 1;
  }
}

function payment(note) {
  const object = { object: "payment", id: id("pay", 1), status: "captured", amount: 4998, currency: "EUR", note };
  return event("payment.succeeded", object, "payments");
}

function order(note, lineCount, customer) {
  const lines = Array.from({ length: lineCount }, (_, index) => line(index));
  const amounts = { subtotal_amount: 41_982, discount_amount: 0, shipping_amount: 490, tax_amount: 6781, total_amount: 42_472 };
  const address = { name: customer, line1: "Hauptstr. 12", line2: null, postal_code: "10115", city: "Berlin", country: "DE" };
  return event("order.confirmed", {
    object: "order",
    order_number: "ORD-1042",
    status: "confirmed",
    payment_status: "paid",
    fulfillment_status: "unfulfilled",
    currency: "EUR",
    amounts,
    line_items: lines,
    customer: { name: customer, email: "rosa@example.com", phone: null },
    shipping_address: address,
    external_references: [],
    fulfillment_note: note,
    placed_at: "2026-09-01T11:59:41.120Z",
    cancelled_at: null,
    metadata: { channel: "web" },
    livemode: true,
  }, "orders");
}

function line(index) {
  const unit = 990 + ((index * 7919) % 4000);
  const quantity = 1 + (index % 3);
  return {
    id: id("li", index),
    sku: `SKU-${1000 + ((index * 37) % 9000)}`,
    name: ["Blue enamel mug, 0.4 l", "Linen tea towel", "Coffee beans \"Dawn\", 500 g", "Oak board"][index % 4],
    quantity,
    unit_amount: unit,
    total_amount: unit * quantity,
    fulfilled_quantity: 0,
    requires_shipping: true,
  };
}

function event(type, object, collection) {
  return JSON.stringify({
    id: EVENT_ID,
    type,
    api_version: "2026-09-01",
    created_at: "2026-09-01T12:00:00.000Z",
    sequence: 42,
    resource_version: 3,
    livemode: true,
    merchant: { id: "mer_01k4m2v7q8r9s0t1v2w3x4y5z6", slug: "demo" },
    data: { object },
    links: { resource: `/v1/merchant/${collection}/1042` },
  });
}

function id(prefix, number) {
  const digits = (number * 2_654_435_761 + 12_345).toString(32).padStart(16, "0");
  return `${prefix}_01k4m2v7q8${digits}`.slice(0, prefix.length + 27);
}
