// NestJS, on Express and on Fastify.
//
// A delivery is answered by a middleware: it comes before guards, pipes and exception filters, so that nothing of the
// application changes what the sender is told. Nest on Express parses bodies before the middleware of its modules; there
// the bytes are only to be had with `rawBody: true`. A middleware of the application itself (`app.use`) comes first and
// needs nothing; so does any middleware of Nest on Fastify. Errors go to Nest's exception handling.
//
// Deliberately absent: going on to a controller from the middleware. Fastify would wait for a body that was read. A
// controller that wants to verify by itself asks for `rawBodyOf` its request.

import type { WebhookEvent } from "../types.js";
import { type ConnectHandler, connectHandler } from "./connect.js";
import {
  type DeliveryReceiver,
  type EventVerifier,
  type VerifiedOptions,
  receiverEndpoint,
  verifiedEndpoint,
} from "./endpoint.js";
import type { NodeResponse } from "./node-exchange.js";
import type { NodeRequest } from "./node-request.js";
import { RawBodyError, isUint8Array } from "./raw-body.js";

export { RawBodyError };
export type { DeliveryReceiver, EventVerifier, VerifiedOptions } from "./endpoint.js";
export type { NodeRequest } from "./node-request.js";
export type { NodeResponse } from "./node-exchange.js";
export type { ConnectHandler, Next } from "./connect.js";

const ADVICE =
  "Nest's body parser came first. Register the webhook in main.ts with app.use(path, …), or create the application " +
  "with NestFactory.create(AppModule, { rawBody: true }).";
const CONTROLLER_ADVICE = "Create the application with NestFactory.create(AppModule, { rawBody: true }).";

/**
 * Makes a middleware of a receiver: `app.use("/webhooks", toMiddleware(receiver))` before `app.listen()`, or
 * `consumer.apply(toMiddleware(receiver)).forRoutes("webhooks")` in a module.
 *
 * @throws {TypeError} `receiver` is not what `createReceiver` returns
 */
export function toMiddleware(receiver: DeliveryReceiver): ConnectHandler<NodeRequest, NodeResponse> {
  return connectHandler(receiverEndpoint(receiver), ADVICE);
}

/**
 * Makes a middleware that only verifies: `handler` gets the event of each valid delivery, every other delivery is
 * answered with its code. When the handler is done and has not answered, the answer is 200. Deliveries come at least
 * once: claim `event.id` before any effect.
 *
 * @throws {TypeError} an argument has the wrong type
 * @throws {RangeError} `maxBodyBytes` is not a whole number from 1
 */
export function verified<Request extends NodeRequest, Response extends NodeResponse>(
  verifier: EventVerifier,
  handler: (event: WebhookEvent, request: Request, response: Response) => unknown,
  options?: VerifiedOptions,
): ConnectHandler<Request, Response> {
  const withoutNext = (event: WebhookEvent, request: Request, response: Response) => handler(event, request, response);
  if (typeof handler !== "function") throw new TypeError("handler must be a function that takes the event");
  return connectHandler(verifiedEndpoint(verifier, withoutNext, options), ADVICE);
}

/**
 * The raw body in a controller, of an application that was created with `rawBody: true`:
 * `verifier.verify(rawBodyOf(request), request.headers)`.
 *
 * @throws {RawBodyError} Nest has not kept it
 */
export function rawBodyOf(request: { readonly rawBody?: unknown }): Uint8Array {
  if (isUint8Array(request.rawBody)) return request.rawBody;
  throw new RawBodyError("request.rawBody is not set", CONTROLLER_ADVICE);
}
