// Next.js: route handlers of the app router, and API routes of the pages router.
//
// A route handler gets an untouched `Request`. An API route gets Node's request, which Next.js has read and parsed
// unless the file itself says otherwise, as a literal, because it is read at build time:
// `export const config = { api: { bodyParser: false } };`. Errors are thrown, that is Next.js logs them and answers 500.

import type { FetchRequest } from "../fetch-types.js";
import type { WebhookEvent } from "../types.js";
import {
  type DeliveryReceiver,
  type Endpoint,
  type EventVerifier,
  type VerifiedOptions,
  receiverEndpoint,
  verifiedEndpoint,
} from "./endpoint.js";
import { type NodeResponse, exchange, writeOk } from "./node-exchange.js";
import type { NodeRequest } from "./node-request.js";
import { respond } from "./web-request.js";

export { RawBodyError } from "./raw-body.js";
export type { DeliveryReceiver, EventVerifier, VerifiedOptions } from "./endpoint.js";
export type { NodeRequest } from "./node-request.js";
export type { NodeResponse } from "./node-exchange.js";

/** A route handler: `export const POST`. */
export type RouteHandler<Request> = (request: Request) => Promise<Response>;

/** An API route: `export default`. */
export type ApiHandler<Request, Response> = (request: Request, response: Response) => Promise<void>;

const ROUTE_ADVICE = "Hand the request over before request.json(), request.text() or anything else reads it.";
const API_ADVICE =
  "Next.js parses the body of an API route unless the route's file says otherwise: " +
  "add `export const config = { api: { bodyParser: false } };` to it.";

/**
 * Makes a route handler of a receiver, in `app/…/route.js`: `export const POST = toRouteHandler(receiver)`.
 *
 * @throws {TypeError} `receiver` is not what `createReceiver` returns
 */
export function toRouteHandler(receiver: DeliveryReceiver): RouteHandler<FetchRequest> {
  return routeHandlerOf(receiverEndpoint(receiver));
}

/**
 * Makes a route handler that only verifies: `handler` gets the event of each valid delivery, every other delivery is
 * answered with its code. What the handler returns is the response; without one the answer is 200. Deliveries come at
 * least once: claim `event.id` before any effect.
 *
 * @throws {TypeError} an argument has the wrong type
 * @throws {RangeError} `maxBodyBytes` is not a whole number from 1
 */
export function verifiedRouteHandler<Request extends FetchRequest>(
  verifier: EventVerifier,
  handler: (event: WebhookEvent, request: Request) => unknown,
  options?: VerifiedOptions,
): RouteHandler<Request> {
  return routeHandlerOf(verifiedEndpoint(verifier, handler, options));
}

/**
 * Makes an API route of a receiver, in `pages/api/…`: `export default toApiHandler(receiver)`, beside
 * `export const config = { api: { bodyParser: false } }`.
 *
 * @throws {TypeError} `receiver` is not what `createReceiver` returns
 */
export function toApiHandler(receiver: DeliveryReceiver): ApiHandler<NodeRequest, NodeResponse> {
  return apiHandlerOf(receiverEndpoint(receiver));
}

/**
 * Makes an API route that only verifies; see `verifiedRouteHandler`. When the handler is done and has not answered, the
 * answer is 200.
 *
 * @throws {TypeError} an argument has the wrong type
 * @throws {RangeError} `maxBodyBytes` is not a whole number from 1
 */
export function verifiedApiHandler<Request extends NodeRequest, Response extends NodeResponse>(
  verifier: EventVerifier,
  handler: (event: WebhookEvent, request: Request, response: Response) => unknown,
  options?: VerifiedOptions,
): ApiHandler<Request, Response> {
  return apiHandlerOf(verifiedEndpoint(verifier, handler, options));
}

function routeHandlerOf<Request extends FetchRequest>(endpoint: Endpoint<[Request]>): RouteHandler<Request> {
  return (request) => respond(endpoint, request, { advice: ROUTE_ADVICE }, request);
}

function apiHandlerOf<Request extends NodeRequest, Response extends NodeResponse>(
  endpoint: Endpoint<[Request, Response]>,
): ApiHandler<Request, Response> {
  return async (request, response) => {
    const answered = await exchange(endpoint, request, response, API_ADVICE, request, response);
    if (!answered) writeOk(response);
  };
}
