// A merchant with the records that samples ask for, each made by the first sample that needs it, over the API. What a
// record is made of has a function with its kind as name; `NEEDS` says which operations want another one, and which want
// something to be there though they name no record.

import assert from "node:assert/strict";

// As in the examples of the documents: 5300 in all.
const BASKET = { currency: "USD", line_items: [{ name: "T-shirt", quantity: 2, sku: "TSHIRT-M", unit_amount: 2400 }], shipping: 500 };
const FREE = { ...BASKET, line_items: [{ ...BASKET.line_items[0], unit_amount: 0 }], shipping: 0 };
const COFFEE = {
  currency: "USD", interval: "month", customer: { reference: "c-77" },
  items: [{ name: "Coffee", quantity: 1, unit_amount: 1900 }],
};
const LONG_AGO = "2026-01-01T00:00:00.000Z";

/** How to make a record of a kind, in a shop; they return what names it. */
const RECORDS = {
  merchant: ({ merchantId }) => merchantId,
  key: ({ keyId }) => keyId,
  order: async ({ sandbox }) => (await sandbox("POST", "/orders", { ...BASKET, pay: "paid" })).order_number,
  async unpaidOrder({ sandbox }) {
    return (await sandbox("POST", "/orders", { ...BASKET, pay: "none" })).order_number;
  },
  async referencedOrder(shop) {
    const order = await RECORDS.order(shop);
    await shop.merchant("PUT", `/orders/${order}/external-references/erp`, { id: "SO-4711" });
    return order;
  },
  async shippedOrder(shop) {
    const order = await RECORDS.order(shop);
    await shop.merchant("POST", `/orders/${order}/shipments`, { carrier: "dhl", tracking_number: "JD0146000" });
    return order;
  },
  checkout: async ({ sandbox }) => (await sandbox("POST", "/checkouts", BASKET)).id,
  freeCheckout: async ({ sandbox }) => (await sandbox("POST", "/checkouts", FREE)).id,
  async payment(shop) {
    const checkout = await RECORDS.checkout(shop);
    return (await shop.sandbox("POST", `/checkouts/${checkout}/pay`, { outcome: "pending" })).id;
  },
  async capturedPayment(shop) {
    await RECORDS.order(shop);
    return (await shop.merchant("GET", "/payments")).data[0].id;
  },
  async refund(shop) {
    const order = await RECORDS.order(shop);
    return (await shop.merchant("POST", `/orders/${order}/refunds`, { amount: 1500, reason: "damaged" })).id;
  },
  async shipment(shop) {
    const order = await RECORDS.shippedOrder(shop);
    return (await shop.merchant("GET", `/orders/${order}/shipments`)).data[0].id;
  },
  subscription: async ({ sandbox }) => (await sandbox("POST", "/subscriptions", COFFEE)).id,
  async event(shop) {
    await RECORDS.order(shop);
    return (await shop.merchant("GET", "/events")).data[0].id;
  },
  async cursor(shop) {
    await RECORDS.order(shop);
    return (await shop.merchant("GET", "/sync/orders")).resume_cursor;
  },
  async checkpoint(shop) {
    const cursor = await RECORDS.cursor(shop);
    await shop.merchant("POST", "/sync/checkpoints", { name: "orders-projection", stream: "orders", cursor });
  },
  async endpoint({ merchant, receiver }) {
    return (await merchant("POST", "/webhook-endpoints", { url: `${receiver}/refuse` })).id;
  },
  async disabledEndpoint(shop) {
    const endpoint = await RECORDS.endpoint(shop);
    await shop.operator("POST", `/webhook-endpoints/${endpoint}/disable`, { reason: "for a while" });
    return endpoint;
  },
  async rotatedEndpoint(shop) {
    const endpoint = await RECORDS.endpoint(shop);
    await shop.merchant("POST", `/webhook-endpoints/${endpoint}/rotate-secret`);
    return endpoint;
  },
  /** One with a delivery that waits: its receiver refuses, and is tried again. */
  async waitingEndpoint(shop) {
    const endpoint = await RECORDS.endpoint(shop);
    await RECORDS.order(shop);
    return endpoint;
  },
  async delivery(shop) {
    const endpoint = await RECORDS.waitingEndpoint(shop);
    return (await shop.merchant("GET", `/webhook-endpoints/${endpoint}/deliveries`)).data[0].id;
  },
  /** More than are sent at a time to a receiver that never answers, so that it goes on. */
  async recovery({ merchant, sandbox, receiver }) {
    const { id } = await merchant("POST", "/webhook-endpoints", { url: `${receiver}/silence`, status: "disabled" });
    await sandbox("POST", "/seed", { orders: 20, seed: 7 });
    await merchant("PATCH", `/webhook-endpoints/${id}`, { status: "enabled" });
    return (await merchant("POST", `/webhook-endpoints/${id}/recover`, { since: LONG_AGO })).id;
  },
  async alert(shop) {
    const payment = await RECORDS.capturedPayment(shop);
    // Refused, because the payment has succeeded; the operator is told.
    const late = { status: "failed", failure: { code: "late" }, processor_event_id: `late-${payment}` };
    await assert.rejects(shop.operator("POST", `/payments/${payment}/reports`, late), /processor_conflict/);
    return (await shop.operator("GET", "/alerts")).data[0].id;
  },
  async invite_code({ stranger }) {
    return (await (await stranger()).merchant("POST", "/partner-connections", { label: "theirs" })).invite_code;
  },
  async connection(shop) {
    const { id, invite_code } = await shop.merchant("POST", "/partner-connections", { label: "Warehouse" });
    await (await shop.stranger()).merchant("POST", "/partner-connections/accept", { invite_code });
    return id;
  },
  async share(shop) {
    const connection_id = await RECORDS.connection(shop);
    return (await shop.merchant("POST", `/orders/${await RECORDS.order(shop)}/shares`, { connection_id })).id;
  },
  /** Of an order of somebody else. */
  async partnerShare(shop) {
    const other = await shop.stranger();
    const { id: connection_id, invite_code } = await other.merchant("POST", "/partner-connections", { label: "Shop" });
    await shop.merchant("POST", "/partner-connections/accept", { invite_code });
    return (await other.merchant("POST", `/orders/${await RECORDS.order(other)}/shares`, { connection_id })).id;
  },
  async sink({ operator, receiver }) {
    await RECORDS.noSink({ operator });
    await operator("POST", "/sink", { url: `${receiver}/refuse`, enabled_events: ["refund.requested"] });
  },
  /** There is one sink for the whole platform. */
  async noSink({ operator }) {
    await operator("DELETE", "/sink").catch((error) => assert.match(error.message, /: 404 /));
  },
};

/** Operations that want a particular record of a kind, or records beside those that they name (`also`). */
const NEEDS = {
  merchant: {
    checkpointsList: { also: "checkpoint" },
    deliveriesList: { endpoint: "waitingEndpoint" },
    endpointsList: { also: "endpoint" },
    endpointsRetireSecret: { endpoint: "rotatedEndpoint" },
    endpointsUndelivered: { endpoint: "waitingEndpoint" },
    eventsList: { also: "order" },
    externalReferencesRemove: { order: "referencedOrder" },
    orderSharesList: { also: "share" },
    ordersList: { also: "order" },
    partnerConnectionsList: { also: "connection" },
    partnerOrdersGet: { share: "partnerShare" },
    partnerOrdersList: { also: "partnerShare" },
    paymentsList: { also: "payment" },
    refundsList: { also: "refund" },
    sandboxOrdersCancel: { order: "unpaidOrder" },
    sandboxOrdersPay: { order: "unpaidOrder" },
    shipmentsList: { order: "shippedOrder" },
    subscriptionsList: { also: "subscription" },
    syncOrders: { also: "order" },
  },
  operator: {
    alertsList: { also: "alert" },
    checkoutsComplete: { checkout: "freeCheckout" },
    deliveriesList: { also: "delivery" },
    endpointsEnable: { endpoint: "disabledEndpoint" },
    ordersCancel: { order: "unpaidOrder" },
    ordersConfirm: { order: "unpaidOrder" },
    paymentsRefund: { payment: "capturedPayment" },
    paymentsStart: { order: "unpaidOrder" },
    sinkCreate: { also: "noSink" },
    sinkDelete: { also: "sink" },
    sinkGet: { also: "sink" },
    sinkRotateSecret: { also: "sink" },
    sinkUpdate: { also: "sink" },
  },
};

let shops = 0;
/** What each authority's samples that only read share: a shop, and its records by their names in `RECORDS`. */
const shared = new WeakMap();

/**
 * A shop for a run of a sample, of its own where the sample writes: the key, the ids of the records that its program names,
 * and `ready`, which is called right before the run, since there is one sink for all.
 */
export async function opened(service, receiver, { document, id, method }, kinds) {
  const isRead = method === "get";
  const { shop, made } = (isRead && shared.get(service)) || { shop: await entered(service, receiver), made: {} };
  if (isRead) shared.set(service, { shop, made });
  const record = (name) => (made[name] ??= RECORDS[name](shop));
  const { also, ...particular } = NEEDS[document][id] ?? {};
  const records = {};
  for (const kind of kinds) records[kind] = await record(particular[kind] ?? kind);
  const ready = async () => also && (also === "sink" ? RECORDS.sink(shop) : record(also));
  return { key: document === "merchant" ? shop.key : service.operatorKey, records, ready };
}

async function entered(service, receiver) {
  const enter = async () => ({ ...await service.enter(`shop-${(shops += 1)}`), operator: service.operator, receiver });
  return { ...await enter(), stranger: enter };
}
