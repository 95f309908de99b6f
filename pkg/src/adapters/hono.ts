// Hono, in every runtime it runs in.
//
// In Workers the secrets and the storage come with each request (`c.env`), so what the handler needs may also be given
// as a function of the context. Errors are thrown, that is they go to `app.onError`.

import type { FetchRequest } from "../fetch-types.js";
import type { WebhookEvent } from "../types.js";
import {
  type DeliveryReceiver,
  type Endpoint,
  type EventVerifier,
  type VerifiedOptions,
  isReceiver,
  receiverEndpoint,
  verifiedEndpoint,
} from "./endpoint.js";
import { respond } from "./web-request.js";

export { RawBodyError } from "./raw-body.js";
export type { DeliveryReceiver, EventVerifier, VerifiedOptions } from "./endpoint.js";

/** Hono's context, as far as it is used. */
export interface HonoContext {
  readonly req: { readonly raw: FetchRequest; readonly bodyCache?: object };
}

/** A handler for `app.post(path, …)`. */
export type HonoHandler<Context> = (context: Context) => Promise<Response>;

/** The thing itself, or how to get it from the context of a request. */
export type OrOfContext<Context, Thing> = Thing | ((context: Context) => Thing | Promise<Thing>);

const ADVICE =
  "Register the webhook route before middleware that calls c.req.json() or c.req.text(), or let that " +
  "middleware call c.req.arrayBuffer() first: Hono then keeps the bytes.";

/**
 * Makes a handler of a receiver: `app.post("/webhooks", toHandler(receiver))`.
 *
 * @param receiver What `createReceiver` returns, or a function that makes it from the context (of `c.env`); such a
 *   function is called for each request.
 * @throws {TypeError} it is neither
 */
export function toHandler<Context extends HonoContext>(
  receiver: OrOfContext<Context, DeliveryReceiver>,
): HonoHandler<Context> {
  if (isReceiver(receiver)) return handlerOf(async () => receiverEndpoint(receiver));
  if (typeof receiver !== "function") throw new TypeError("receiver must be what createReceiver returns");
  return handlerOf(async (context) => receiverEndpoint(await receiver(context)));
}

/**
 * Makes a handler that only verifies: `handler` gets the event of each valid delivery, every other delivery is answered
 * with its code. What the handler returns is the response; without one the answer is 200. Deliveries come at least
 * once: claim `event.id` before any effect.
 *
 * @param verifier A `Verifier`, or a function that makes it from the context (of `c.env`).
 * @throws {TypeError} an argument has the wrong type
 * @throws {RangeError} `maxBodyBytes` is not a whole number from 1
 */
export function verified<Context extends HonoContext>(
  verifier: OrOfContext<Context, EventVerifier>,
  handler: (event: WebhookEvent, context: Context) => unknown,
  options?: VerifiedOptions,
): HonoHandler<Context> {
  if (typeof verifier !== "function") {
    const endpoint = verifiedEndpoint(verifier, handler, options);
    return handlerOf(async () => endpoint);
  }
  return handlerOf(async (context) => verifiedEndpoint(await verifier(context), handler, options));
}

function handlerOf<Context extends HonoContext>(
  endpointOf: (context: Context) => Promise<Endpoint<[Context]>>,
): HonoHandler<Context> {
  return async (context) => {
    const endpoint = await endpointOf(context);
    const kept = await keptBytes(context.req.bodyCache ?? {});
    return respond(endpoint, context.req.raw, { advice: ADVICE, kept }, context);
  };
}

/** What Hono remembers of a body that was read: exact as a buffer, decoded in every other form. */
async function keptBytes(cache: { arrayBuffer?: unknown }): Promise<Uint8Array | undefined> {
  if (cache.arrayBuffer === undefined) return undefined;
  return new Uint8Array((await cache.arrayBuffer) as ArrayBuffer);
}
