// Koa.
//
// The middleware belongs before a body parser, or on a router that none comes before. What Koa's parsers keep as
// `ctx.request.rawBody` is text, not the bytes. Errors are thrown, that is they go to the application's error handling.

import { ACCEPTED, type ReceiverAnswer } from "../receiver/answers.js";
import type { WebhookEvent } from "../types.js";
import {
  type DeliveryReceiver,
  type Endpoint,
  type EventVerifier,
  type VerifiedOptions,
  receiverEndpoint,
  verifiedEndpoint,
} from "./endpoint.js";
import { type NodeRequest, takeDelivery } from "./node-request.js";

export { RawBodyError } from "./raw-body.js";
export type { DeliveryReceiver, EventVerifier, VerifiedOptions } from "./endpoint.js";
export type { NodeRequest } from "./node-request.js";

/** Koa's context, as far as it is used. */
export interface KoaContext {
  readonly req: NodeRequest;
  readonly request: object;
  readonly headerSent: boolean;
  status: number;
  body: unknown;
  respond?: boolean | undefined;
  set(name: string, value: string): unknown;
}

/** Koa's `next`. */
export type Next = () => Promise<any>;

/** A middleware for `app.use(…)` or `router.post(path, …)`. */
export type KoaMiddleware<Context> = (context: Context, next: Next) => Promise<void>;

const ADVICE =
  "Use the webhook middleware (or its router) before bodyParser(), or let the parser pass it by: " +
  "set ctx.disableBodyParser = true for this path in a middleware before bodyParser().";

/**
 * Makes a middleware of a receiver: `router.post("/webhooks", toMiddleware(receiver))`.
 *
 * @throws {TypeError} `receiver` is not what `createReceiver` returns
 */
export function toMiddleware(receiver: DeliveryReceiver): KoaMiddleware<KoaContext> {
  return middlewareOf(receiverEndpoint(receiver));
}

/**
 * Makes a middleware that only verifies: `handler` gets the event of each valid delivery, every other delivery is
 * answered with its code. When the handler is done and has set neither body nor status, the answer is 200. Deliveries
 * come at least once: claim `event.id` before any effect.
 *
 * @throws {TypeError} an argument has the wrong type
 * @throws {RangeError} `maxBodyBytes` is not a whole number from 1
 */
export function verified<Context extends KoaContext>(
  verifier: EventVerifier,
  handler: (event: WebhookEvent, context: Context, next: Next) => unknown,
  options?: VerifiedOptions,
): KoaMiddleware<Context> {
  return middlewareOf(verifiedEndpoint(verifier, handler, options));
}

function middlewareOf<Context extends KoaContext>(endpoint: Endpoint<[Context, Next]>): KoaMiddleware<Context> {
  return async (context, next) => {
    const taken = await takeDelivery(context.req, endpoint.maxBodyBytes, ADVICE, context.request);
    if ("answer" in taken) return answer(context, taken.answer);
    context.status = ACCEPTED.status; // what the handler does not change
    const outcome = await endpoint.settle(taken.delivery, context, next);
    if ("answer" in outcome) answer(context, outcome.answer);
    else if (!isAnswered(context)) answer(context, ACCEPTED);
  };
}

function isAnswered({ body, headerSent, respond, status }: KoaContext): boolean {
  return headerSent || respond === false || status !== ACCEPTED.status || (body !== undefined && body !== null);
}

function answer(context: KoaContext, { status, headers, body }: ReceiverAnswer): void {
  context.status = status;
  context.body = JSON.stringify(body);
  // After the body, which sets a media type of its own.
  for (const [name, value] of Object.entries(headers)) context.set(name, value);
}
