// Express 4 and 5.
//
// A handler reads the request itself, so it belongs on a route that no body parser comes before. Errors (of the
// application's handler, or a raw body that is gone) go to `next`, that is to the application's error handling.

import type { WebhookEvent } from "../types.js";
import { type ConnectHandler, type Next, connectHandler } from "./connect.js";
import {
  type DeliveryReceiver,
  type EventVerifier,
  type VerifiedOptions,
  receiverEndpoint,
  verifiedEndpoint,
} from "./endpoint.js";
import type { NodeResponse } from "./node-exchange.js";
import type { NodeRequest } from "./node-request.js";

export { RawBodyError } from "./raw-body.js";
export type { DeliveryReceiver, EventVerifier, VerifiedOptions } from "./endpoint.js";
export type { NodeRequest } from "./node-request.js";
export type { NodeResponse } from "./node-exchange.js";
export type { ConnectHandler, Next } from "./connect.js";

const ADVICE =
  "Register the webhook route above app.use(express.json()), or let that parser keep the bytes: " +
  "express.json({ verify: (request, response, buffer) => { request.rawBody = buffer; } }).";

/**
 * Makes a request handler of a receiver: `app.post("/webhooks", toHandler(receiver))`.
 *
 * @throws {TypeError} `receiver` is not what `createReceiver` returns
 */
export function toHandler(receiver: DeliveryReceiver): ConnectHandler<NodeRequest, NodeResponse> {
  return connectHandler(receiverEndpoint(receiver), ADVICE);
}

/**
 * Makes a request handler that only verifies: `handler` gets the event of each valid delivery, every other delivery is
 * answered with its code. When the handler is done and has neither answered nor called `next`, the answer is 200.
 * Deliveries come at least once: claim `event.id` before any effect.
 *
 * @throws {TypeError} an argument has the wrong type
 * @throws {RangeError} `maxBodyBytes` is not a whole number from 1
 */
export function verified<Request extends NodeRequest, Response extends NodeResponse>(
  verifier: EventVerifier,
  handler: (event: WebhookEvent, request: Request, response: Response, next: Next) => unknown,
  options?: VerifiedOptions,
): ConnectHandler<Request, Response> {
  return connectHandler(verifiedEndpoint(verifier, handler, options), ADVICE);
}
