// Compiled, never run: what a TypeScript receiver may write with events, and what the compiler must refuse.

import {
  type ApiErrorCode,
  type CheckResult,
  EVENT_TYPES,
  type EventType,
  type KnownEvent,
  type Order,
  type OrderConfirmedEvent,
  type OrderEvent,
  type OrderStatus,
  type Refund,
  type SharedOrder,
  type SharedShipment,
  type UnknownEvent,
  type Unlisted,
  Verifier,
  type WebhookEvent,
  isKnownEvent,
} from "verify-wasm";

const verifier = new Verifier("whsec_x");

/** Each case has the record of its type, and what is left is the open arm. */
export function inWords(event: WebhookEvent): string {
  switch (event.type) {
    case "order.confirmed": {
      const narrowed: OrderConfirmedEvent = event;
      // @ts-expect-error it may be an order of another merchant, of which less is shown
      void event.data.object.metadata;
      if (narrowed.recipient) {
        const shared: SharedOrder = narrowed.data.object;
        return `${shared.order_number} of ${narrowed.merchant.slug}, ${shared.amounts?.total ?? "no money shown"}`;
      }
      const order: Order = narrowed.data.object;
      return `${order.order_number} ${order.line_items[0]?.quantity ?? 0} ${narrowed.links.resource}`;
    }
    case "refund.completed":
    case "refund.failed": {
      const refund: Refund = event.data.object;
      return refund.failure?.code ?? refund.payment_id;
    }
    case "checkout.expired":
      // @ts-expect-error a checkout cannot be read by merchants, so its events have no link
      void event.links;
      return event.data.object.expires_at;
    case "webhook.test":
      // @ts-expect-error the test of an endpoint has no versions
      void event.resource_version;
      return event.data.object.message ?? "";
    case "order.shared":
      return `${event.data.share.id} ${event.recipient.merchant.slug} ${event.data.object.shipping_address?.line1 ?? ""}`;
    case "shipment.delivered": {
      const parcel: SharedShipment = event.data.object;
      return parcel.carrier;
    }
    // @ts-expect-error there is no such type
    case "order.confirmd":
      return "";
    default:
      return event.type;
  }
}

/** Every listed type by hand: when one is missing, `rest` is not the open arm alone. */
export function exhaustive(event: WebhookEvent): number {
  switch (event.type) {
    case "webhook.test":
    case "checkout.created":
    case "checkout.completed":
    case "checkout.expired":
    case "checkout.cancelled":
    case "checkout.payment_failed":
    case "payment.created":
    case "payment.pending":
    case "payment.authorized":
    case "payment.succeeded":
    case "payment.failed":
    case "payment.cancelled":
    case "payment.refunded":
    case "payment.partially_refunded":
    case "order.created":
    case "order.confirmed":
    case "order.updated":
    case "order.cancelled":
    case "order.fulfilled":
    case "order.shipped":
    case "order.delivered":
    case "order.shared":
    case "order.share_revoked":
    case "refund.requested":
    case "refund.processing":
    case "refund.completed":
    case "refund.failed":
    case "shipment.created":
    case "shipment.updated":
    case "shipment.delivered":
    case "subscription.created":
    case "subscription.updated":
      return 1;
    case "subscription.cancelled":
      return 2;
    default: {
      const rest: UnknownEvent = event;
      const member: unknown = rest["of a later version"];
      const record: unknown = rest.data.object["anything"];
      return member === record ? 3 : 4;
    }
  }
}

// @ts-expect-error a type that is not listed reaches the end
export function withoutDefault(event: WebhookEvent): number {
  switch (event.type) {
    case "order.created":
      return 1;
  }
}

/** What is not a switch narrows as well. */
export function narrowed(event: WebhookEvent): string {
  if (event.type === "payment.succeeded") return event.data.object.processor.name;
  if (event.type !== "shipment.created") return event.merchant.slug;
  return event.data.object.carrier;
}

/** A guard instead of a comparison. */
export function known(event: WebhookEvent): EventType | "unknown" {
  if (!isKnownEvent(event)) {
    const type: Unlisted = event.type;
    // A type that this version does not list, by its name.
    return (type as string) === "order.exploded" ? "unknown" : "unknown";
  }
  const listed: KnownEvent = event;
  return listed.type;
}

/** All events of a category, and a handler for each type that somebody chooses. */
type Handlers = { [Type in EventType]?: (event: Extract<KnownEvent, { type: Type }>) => void };
export const handlers: Handlers = {
  "order.shipped": (event) => event.data.object.shipped_at?.length,
  "payment.failed": (event) => event.data.object.failure?.message,
  // @ts-expect-error there is no such type
  "order.exploded": () => undefined,
};
export const total = (event: OrderEvent): number | undefined => event.data.object.amounts?.total;

/** What every event has can be read without knowing which it is. */
export function logged(event: WebhookEvent): [string, string, number, boolean, string, string] {
  return [event.id, event.type, event.sequence, event.livemode, event.merchant.id, event.created_at];
}

/** Sets of names are open too: a listed name narrows, a misspelt one does not compile, and a default is needed. */
export function status(order: Order): string {
  // @ts-expect-error there is no such status
  if (order.status === "confirmd") return "";
  switch (order.status) {
    case "pending":
    case "confirmed":
    case "completed":
    case "cancelled":
      return order.status;
    default: {
      const rest: Unlisted = order.status;
      return rest;
    }
  }
}
const labels: { [Status in OrderStatus]?: string } = { pending: "waits", cancelled: "off" };
export const label = (order: Order): string => labels[order.status] ?? order.status;
export const everyLabel: Record<Exclude<OrderStatus, Unlisted>, string> = {
  pending: "",
  confirmed: "",
  completed: "",
  cancelled: "",
};

/** Results of the verifier are these events. */
export const verified: WebhookEvent = verifier.verify("", {});
export const later: WebhookEvent = verifier.verifyEnvelope("", {}).event;
export const checked: CheckResult = verifier.check("", {});
if (checked.ok && checked.event.type === "refund.requested") checked.event.data.object.amount.toFixed();

export const names: readonly EventType[] = EVENT_TYPES;
// @ts-expect-error the list is not to be changed
EVENT_TYPES.push("order.exploded");
// @ts-expect-error members are nullable where the contract says so
export const street: string = ({} as Order).shipping_address.line1;
// @ts-expect-error there is no such member
void ({} as Order).total;

/** Codes are closed within a version. */
export const retried: ApiErrorCode[] = ["idempotency_key_in_use", "rate_limited", "internal_error", "service_unavailable"];
// @ts-expect-error there is no such code
export const noCode: ApiErrorCode = "teapot";
