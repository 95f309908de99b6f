// The envelope of a verified delivery: its fields now, its event on demand.

import { currentInput } from "./core.js";
import { type Delivery, bodyCopy, decode } from "./delivery.js";
import type { Envelope, WebhookEvent } from "./types.js";

/** Takes the fields that the core has just read, and keeps a copy of the verified text for later. */
export function takeEnvelope(delivery: Delivery): Envelope {
  const input = currentInput();
  // One field per line, in the order that the core documents; no field can hold a line break.
  const [id, type, apiVersion, createdAt, merchantId, slug] = input.takeFields().split("\n") as Fields;
  const text = bodyCopy(delivery);
  let event: WebhookEvent | undefined;
  return {
    id,
    type,
    apiVersion,
    createdAt,
    sequence: input.sequence ?? null,
    resourceVersion: input.resourceVersion ?? null,
    livemode: input.livemode ?? null,
    merchant: { id: merchantId, slug },
    get event() {
      event ??= JSON.parse(decode(text)) as WebhookEvent;
      return event;
    },
  };
}

type Fields = [id: string, type: string, apiVersion: string, createdAt: string, merchantId: string, slug: string];
