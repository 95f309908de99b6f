// What stands behind a route: a receiver that does everything, or a verifier and the application's own handler.
//
// An adapter gets the raw bytes of one request, asks the endpoint, and writes what it says. Both forms answer alike;
// they differ in what a verified event leads to. Only types are imported: the receiver and the verifier are the
// application's, so there is never a second core.

import { checkOptions } from "../known-options.js";
import { type ReceiverAnswer, rejected } from "../receiver/answers.js";
import { BODY_BYTES_DEFAULT } from "../receiver/bounded-body.js";
import { isRefusal, silently } from "../receiver/refusal.js";
import type { RequestHeaders, VerificationCode, WebhookEvent } from "../types.js";

/** One request, as far as the contract looks at it. */
export interface Delivery {
  readonly method: string;
  readonly contentType: string | null;
  /** The bytes as transmitted; `null` when the upload broke off or there was none. */
  readonly body: Uint8Array | null;
  readonly headers: RequestHeaders;
}

/** The settings of the forms that only verify, by name. */
export const VERIFIED_OPTIONS: readonly string[] = ["maxBodyBytes", "onRefused"];

/** What `createReceiver` returns, as far as an adapter uses it. */
export interface DeliveryReceiver {
  /** Bytes of a body that are read; one more is answered with 413. */
  readonly maxBodyBytes: number;
  receive(delivery: Delivery): Promise<ReceiverAnswer>;
}

/** A `Verifier`, as far as an adapter uses it. */
export interface EventVerifier {
  verify(body: Uint8Array | null, headers: RequestHeaders): WebhookEvent;
}

/** Settings of the forms that only verify. */
export interface VerifiedOptions {
  /** Bytes of a body that are read, at least 1; one more is answered with 413. Default 1,048,576. */
  maxBodyBytes?: number | undefined;
  /**
   * Told of every delivery that the verification refused, for a log or a counter. While you develop, hand body and
   * headers to `verifier.explain`, which says why a signature does not match. What it throws is ignored.
   */
  onRefused?: ((code: VerificationCode, refused: Pick<Delivery, "body" | "headers">) => void) | undefined;
}

/** The answer that is due, or what the application's handler returned. */
export type Outcome = { readonly answer: ReceiverAnswer } | { readonly result: unknown };

/** What a route leads to; `context` is what the framework gives its handlers. */
export interface Endpoint<Context extends unknown[]> {
  readonly maxBodyBytes: number;
  settle(delivery: Delivery, ...context: Context): Promise<Outcome>;
}

/**
 * A receiver as an endpoint.
 *
 * @throws {TypeError} it is not a receiver
 */
export function receiverEndpoint(receiver: DeliveryReceiver): Endpoint<unknown[]> {
  if (!isReceiver(receiver)) throw new TypeError("receiver must be what createReceiver returns");
  const { maxBodyBytes } = receiver;
  return { maxBodyBytes, settle: async (delivery) => ({ answer: await receiver.receive(delivery) }) };
}

/**
 * A verifier with a handler as an endpoint. What the handler throws is thrown.
 *
 * @throws {TypeError} an argument has the wrong type
 * @throws {RangeError} `maxBodyBytes` is not a whole number from 1
 */
export function verifiedEndpoint<Context extends unknown[]>(
  verifier: EventVerifier,
  handler: (event: WebhookEvent, ...context: Context) => unknown,
  options: VerifiedOptions = {},
  known = VERIFIED_OPTIONS,
): Endpoint<Context> {
  if (typeof verifier?.verify !== "function") throw new TypeError("verifier must be a Verifier");
  if (typeof handler !== "function") throw new TypeError("handler must be a function that takes the event");
  checkOptions(options, known);
  const { maxBodyBytes = BODY_BYTES_DEFAULT, onRefused = () => {} } = options;
  if (typeof onRefused !== "function") throw new TypeError("onRefused must be a function");
  if (typeof maxBodyBytes !== "number") throw new TypeError("maxBodyBytes must be a number");
  if (!Number.isSafeInteger(maxBodyBytes) || maxBodyBytes < 1) {
    throw new RangeError("maxBodyBytes must be a whole number of bytes, at least 1");
  }
  const tell = silently(onRefused);
  return {
    maxBodyBytes,
    async settle({ body, headers }, ...context) {
      let event: WebhookEvent;
      try {
        event = verifier.verify(body, headers);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        tell(error.code, { body, headers });
        return { answer: rejected(error.code, error.status) };
      }
      return { result: await handler(event, ...context) };
    },
  };
}

/** Tells a receiver from a function that returns one: a receiver can be called as well. */
export function isReceiver(value: unknown): value is DeliveryReceiver {
  return typeof (value as Partial<DeliveryReceiver> | null | undefined)?.receive === "function";
}
