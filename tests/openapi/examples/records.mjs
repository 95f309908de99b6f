// One answer of each kind, in the order in which they come about.

import assert from "node:assert/strict";

const BASKET = {
  currency: "USD",
  line_items: [{ sku: "TSHIRT-M", name: "T-shirt", quantity: 2, unit_amount: 2400, discount_amount: 300 }],
  shipping: 500,
  customer: { reference: "c-77", email: "ada@example.com", name: "Ada Byron", locale: "en-GB" },
  shipping_address: { name: "Ada Byron", line1: "1 Main St", city: "Leeds", postal_code: "LS1 1AA", country: "GB" },
};

/** Them, by the names of their definitions. */
export async function records(service, receiver) {
  const { operator, merchant, merchantId } = service;
  const shown = {};
  shown.OperatorMerchant = await operator("PATCH", `/merchants/${merchantId}`, { name: "Acme Ltd" });
  const key = { mode: "test", name: "Shop backend", scopes: ["orders:read", "refunds:write"] };
  shown.IssuedApiKey = await operator("POST", `/merchants/${merchantId}/api-keys`, key);
  shown.ApiKey = await newest(operator, `/merchants/${merchantId}/api-keys`);
  shown.AuditEntry = await newest(operator, "/audit-log");
  const link = { scopes: ["webhooks:manage", "events:read"], return_url: "https://shop.example.com/settings" };
  shown.PortalSession = await operator("POST", `/merchants/${merchantId}/test/portal-sessions`, link);
  const endpoint = { description: "Warehouse", enabled_events: ["order.*", "refund.completed"] };
  shown.WebhookEndpointWithSecret = await merchant("POST", "/webhook-endpoints", { url: `${receiver}/webhooks`, ...endpoint });
  await business(service, shown);
  await partners(service, shown);
  await feeds(service, shown);
  await deliveries(service, shown, receiver);
  shown.SandboxSeed = await service.sandbox("POST", "/seed", { orders: 3, seed: 7 });
  return shown;
}

/** An order that is paid, shipped and given back in part. */
async function business({ operator, merchant, merchantId }, shown) {
  const platform = `/merchants/${merchantId}/test`;
  shown.Checkout = await operator("POST", `${platform}/checkouts`, BASKET);
  const pay = {
    checkout_id: shown.Checkout.id, amount: shown.Checkout.amounts.total, currency: "USD",
    method: { type: "card", brand: "visa", last4: "4242" }, processor: { name: "acquirer", reference: "ch_1" },
    processor_event_id: "ch_1",
  };
  const payment = await operator("POST", `${platform}/payments`, pay);
  const paid = { status: "succeeded", processor_event_id: "ch_1-succeeded" };
  shown.PaymentReportResult = await operator("POST", `/payments/${payment.id}/reports`, paid);
  shown.Payment = await merchant("GET", `/payments/${payment.id}`);
  shown.OperatorPayment = await operator("GET", `/payments/${payment.id}`);
  const order = shown.Payment.order_number;
  const parcel = { carrier: "dhl", tracking_number: "JD0146000", tracking_url: "https://track.example.com/JD0146000" };
  shown.Shipment = await merchant("POST", `/orders/${order}/shipments`, parcel);
  shown.ShipmentReportResult = await operator("POST", `/shipments/${shown.Shipment.id}/reports`, { status: "in_transit" });
  const refund = { amount: 1500, reason: "damaged", note: "One of two arrived broken." };
  shown.Refund = await merchant("POST", `/orders/${order}/refunds`, refund);
  shown.OperatorRefund = await operator("GET", `/refunds/${shown.Refund.id}`);
  const back = { status: "completed", processor_event_id: "re_1-completed" };
  shown.RefundReportResult = await operator("POST", `/refunds/${shown.Refund.id}/reports`, back);
  const erp = { id: "SO-4711", url: "https://erp.example.com/orders/SO-4711" };
  shown.Order = await merchant("PUT", `/orders/${order}/external-references/erp`, erp);
  const items = [{ name: "Coffee", quantity: 1, unit_amount: 1900 }];
  const coffee = { currency: "USD", interval: "month", customer: { reference: "c-77" }, items };
  shown.Subscription = await operator("POST", `${platform}/subscriptions`, coffee);
  shown.SubscriptionReportResult = await operator("POST", `/subscriptions/${shown.Subscription.id}/reports`, { renew: true });
  await conflict(operator, platform);
  shown.OperatorAlert = (await operator("GET", "/alerts")).data[0];
}

/** A processor that says first that a payment failed and then that it succeeded: the platform's people should look. */
async function conflict(operator, platform) {
  const checkout = await operator("POST", `${platform}/checkouts`, BASKET);
  const pay = {
    checkout_id: checkout.id, amount: checkout.amounts.total, currency: "USD", method: { type: "card" },
    processor: { name: "acquirer", reference: "ch_2" }, processor_event_id: "ch_2",
  };
  const payment = await operator("POST", `${platform}/payments`, pay);
  await operator("POST", `/payments/${payment.id}/reports`, { status: "failed", processor_event_id: "ch_2-failed" });
  const late = { status: "succeeded", processor_event_id: "ch_2-succeeded" };
  await operator("POST", `/payments/${payment.id}/reports`, late).catch(() => {});
}

/** The order in the hands of a partner. */
async function partners({ enter, merchant }, shown) {
  const partner = await enter("warehouse-north");
  shown.PartnerConnectionWithCode = await merchant("POST", "/partner-connections", { label: "Warehouse North" });
  const { id, invite_code } = shown.PartnerConnectionWithCode;
  await partner.merchant("POST", "/partner-connections/accept", { invite_code, label: "Shop South" });
  shown.PartnerConnection = await merchant("GET", `/partner-connections/${id}`);
  shown.OrderShare = await merchant("POST", `/orders/${shown.Order.order_number}/shares`, { connection_id: id });
  shown.PartnerOrder = await partner.merchant("GET", `/partner-orders/${shown.OrderShare.id}`);
}

/** What has changed, and how far somebody has come with it. */
async function feeds({ merchant }, shown) {
  const changes = await merchant("GET", "/sync/orders?limit=1");
  shown.OrderChange = changes.data[0];
  const progress = { name: "orders-projection", stream: "orders", cursor: changes.resume_cursor };
  shown.Checkpoint = await merchant("POST", "/sync/checkpoints", progress);
  shown.Event = (await merchant("GET", "/events?type=order.confirmed&limit=1")).data[0];
}

/** What reached the receiver, what did not, and what is done about it. */
async function deliveries({ operator, merchant }, shown, receiver) {
  const path = `/webhook-endpoints/${shown.WebhookEndpointWithSecret.id}`;
  const { id } = await newest(merchant, `${path}/deliveries?event_id=${shown.Event.id}`);
  shown.DeliveryWithAttempts = await until(() => merchant("GET", `/deliveries/${id}`), (seen) => seen.status === "succeeded");
  shown.OperatorDeliveryWithAttempts = await operator("GET", `/deliveries/${id}`);
  shown.EventReplay = await merchant("POST", `/events/${shown.Event.id}/replay`);
  shown.WebhookTestRequest = await merchant("POST", `${path}/test`, { message: "hello" });
  await until(() => merchant("GET", `${path}/deliveries?status=pending`), (page) => page.data.length === 0);
  shown.Delivery = await newest(merchant, `${path}/deliveries`);
  shown.OperatorDelivery = await newest(operator, "/deliveries?merchant=" + shown.OperatorMerchant.id);
  shown.WebhookEndpoint = await merchant("GET", path);
  shown.OperatorEndpoint = await operator("GET", path);
  await missed({ operator, merchant }, shown, receiver);
  const sink = { url: "https://payments.platform.example.com/events", enabled_events: ["refund.requested"] };
  shown.SinkWithSecret = await operator("POST", "/sink", sink);
  shown.Sink = await operator("GET", "/sink");
}

/** An endpoint that was disabled while something happened. */
async function missed({ operator, merchant }, shown, receiver) {
  const { id } = await merchant("POST", "/webhook-endpoints", { url: `${receiver}/orders`, status: "disabled" });
  const path = `/webhook-endpoints/${id}`;
  await merchant("PATCH", `/orders/${shown.Order.order_number}/fulfillment`, { note: "Shelf 4" });
  shown.UndeliveredEvent = (await merchant("GET", `${path}/undelivered`)).data[0];
  await merchant("PATCH", path, { status: "enabled" });
  const lost = { since: "2026-09-01T00:00:00.000Z", types: ["order.*"] };
  shown.RecoveryDryRun = await merchant("POST", `${path}/recover`, { ...lost, dry_run: true });
  const { id: recovery } = await merchant("POST", `${path}/recover`, lost);
  const ended = (seen) => seen.status === "completed";
  shown.EndpointRecovery = await until(() => merchant("GET", `/endpoint-recoveries/${recovery}`), ended);
  shown.PlatformOutbox = await operator("GET", "/outbox");
  shown.IntegrationHealth = await merchant("GET", "/integration-health");
  shown.DeletedWebhookEndpoint = await merchant("DELETE", path);
}

async function newest(root, path) {
  return (await root("GET", path)).data[0];
}

/** Asks until the answer is as it will be; what takes longer than ten seconds is not coming. */
async function until(ask, holds) {
  for (const end = Date.now() + 10_000; ; ) {
    const seen = await ask();
    if (holds(seen)) return seen;
    assert.ok(Date.now() < end, JSON.stringify(seen));
  }
}
