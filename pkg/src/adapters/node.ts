// Node's own HTTP server, and everything that hands its requests on unchanged.
//
// There is no framework to take an error, so there is an option for it; whoever made the request is told 500, which
// makes the service come again.

import {
  type DeliveryReceiver,
  type Endpoint,
  type EventVerifier,
  VERIFIED_OPTIONS,
  type VerifiedOptions,
  receiverEndpoint,
  verifiedEndpoint,
} from "./endpoint.js";
import { type NodeResponse, exchange, write, writeOk } from "./node-exchange.js";
import type { NodeRequest } from "./node-request.js";
import { checkOptions } from "../known-options.js";
import { INTERNAL_ERROR } from "../receiver/answers.js";
import { silently } from "../receiver/refusal.js";
import type { WebhookEvent } from "../types.js";

export { RawBodyError } from "./raw-body.js";
export type { DeliveryReceiver, EventVerifier, VerifiedOptions } from "./endpoint.js";
export type { NodeRequest } from "./node-request.js";
export type { NodeResponse } from "./node-exchange.js";

/** What `createServer` takes. */
export type RequestListener<Request, Response> = (request: Request, response: Response) => void;

/** Settings of a listener. */
export interface ListenerOptions {
  /** Is told what went wrong while a request was answered with 500. Default `console.error`. */
  onError?: ((error: unknown) => void) | undefined;
}

const LISTENER_OPTIONS = ["onError"];
const ADVICE = "Call this listener before anything reads the request, or keep the bytes as request.rawBody.";

/**
 * Makes a request listener of a receiver: `createServer(toListener(receiver))`. Which path it answers is decided by
 * whoever calls it.
 *
 * @throws {TypeError} an argument has the wrong type
 */
export function toListener(
  receiver: DeliveryReceiver,
  options?: ListenerOptions,
): RequestListener<NodeRequest, NodeResponse> {
  if (options !== undefined) checkOptions(options, LISTENER_OPTIONS);
  return listenerOf(receiverEndpoint(receiver), options);
}

/**
 * Makes a request listener that only verifies: `handler` gets the event of each valid delivery, every other delivery is
 * answered with its code. When the handler is done and has not answered, the answer is 200. Deliveries come at least
 * once: claim `event.id` before any effect.
 *
 * @throws {TypeError} an argument has the wrong type
 * @throws {RangeError} `maxBodyBytes` is not a whole number from 1
 */
export function verified<Request extends NodeRequest, Response extends NodeResponse>(
  verifier: EventVerifier,
  handler: (event: WebhookEvent, request: Request, response: Response) => unknown,
  options?: VerifiedOptions & ListenerOptions,
): RequestListener<Request, Response> {
  return listenerOf(verifiedEndpoint(verifier, handler, options, [...VERIFIED_OPTIONS, ...LISTENER_OPTIONS]), options);
}

function listenerOf<Request extends NodeRequest, Response extends NodeResponse>(
  endpoint: Endpoint<[Request, Response]>,
  { onError = console.error }: ListenerOptions = {},
): RequestListener<Request, Response> {
  if (typeof onError !== "function") throw new TypeError("onError must be a function");
  const tell = silently(onError);
  return (request, response) => {
    exchange(endpoint, request, response, ADVICE, request, response).then(
      (answered) => {
        if (!answered) writeOk(response);
      },
      (error: unknown) => {
        if (!response.headersSent) write(response, INTERNAL_ERROR);
        else if (!response.writableEnded) request.destroy();
        tell(error);
      },
    );
  };
}
