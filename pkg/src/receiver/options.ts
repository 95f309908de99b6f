// The settings of a receiver, and what is made of them once, when it is created.

import { BODY_BYTES_DEFAULT } from "./bounded-body.js";
import type { ClaimStore } from "../stores/claim-store.js";
import type { Signal } from "../fetch-types.js";
import type { RequestHeaders, VerificationCode, WebhookEvent } from "../types.js";
import type { Verifier } from "../verifier.js";
import { BODY_BYTES_MAX } from "../bounds.js";
import { checkOptions } from "../known-options.js";
import { silently } from "./refusal.js";
import { type LeasingStore, leasing } from "./single-process.js";

/** What `onEvent` is told beside the event. */
export interface EventContext {
  /** 1 for the first attempt, one more for each that follows. */
  readonly attempt: number;
  /** Aborted when the lease ends: from then on another attempt may begin, so stop what you have not finished. */
  readonly signal: Signal;
}

/** What `onError` is told beside the error. */
export interface ErrorContext {
  /**
   * What went wrong: `processing_failed` (`onEvent` threw, or did not finish within its lease), `storage_unavailable`
   * (the store failed), or `invalid_secret` (no usable signing secret; every delivery is answered 503).
   */
  readonly code: "processing_failed" | "storage_unavailable" | "invalid_secret";
  /** The event that it happened to; `null` when none has been verified. */
  readonly eventId: string | null;
}

/** What `onRefused` is given beside the code. Nothing in it is to be believed. */
export interface RefusedDelivery {
  /** The bytes as they came; `null` when there were none. */
  readonly body: Uint8Array | null;
  /** The request's headers, in the form in which the receiver got them. */
  readonly headers: RequestHeaders;
}

/** What a failure of `onEvent` means for the sender. */
export type OnFailure = "retry-internally" | "ask-for-redelivery";

/** Settings of `createReceiver` that do not say how deliveries are verified. */
export interface ReceiverSettings {
  /** Where claims are kept: one of `verify-wasm/stores/*`, or your own. */
  store: ClaimStore;
  /**
   * Acts on an event: awaited, and called for one attempt at a time. Types you do not know are passed on too; ignore
   * them. An attempt that dies with its process is made again, so the effect should be one that may be repeated: use
   * `event.id` as its key.
   */
  onEvent: (event: WebhookEvent, context: EventContext) => unknown;
  /**
   * `"retry-internally"` (default): the sender gets 200 as soon as the event is claimed and tried, and what failed is
   * tried again by `retryPending`, which your own timer calls. `"ask-for-redelivery"`: the sender gets 500 and comes
   * again by its schedule; the redelivery is the next attempt.
   */
  onFailure?: OnFailure | undefined;
  /**
   * The longest body that is read, bytes, 1 to 268,435,456. Default 1 MiB (1,048,576); one more byte is answered 413. A
   * verifier of your own has a bound too (its `maxBodyBytes`, 16 MiB by default).
   */
  maxBodyBytes?: number | undefined;
  /**
   * How long the sender waits for `store` and `onEvent`, seconds, above 0, at most 3600. Default 10; the sender gives
   * up after 15. `onEvent` may take longer: it goes on, and the sender is told 200 or, when asked to come again, 500.
   */
  answerWithinSeconds?: number | undefined;
  /**
   * How long an attempt may take, seconds, above 0, at most 86,400. Default 300. Then its signal is aborted, it counts
   * as failed, and another may begin. An attempt whose process died is taken up after this time as well.
   */
  leaseSeconds?: number | undefined;
  /**
   * How long `retryPending` leaves an event alone after its first failed attempt, seconds, 0 to 3600; doubled with
   * every further one up to an hour. Default 10. Redeliveries, where they are asked for, do not wait.
   */
  retryDelaySeconds?: number | undefined;
  /**
   * Told of everything that the sender's answer cannot say. Default: one line on the console. What it throws is
   * ignored.
   */
  onError?: ((error: unknown, context: ErrorContext) => void) | undefined;
  /**
   * Told of every delivery that the verification refused, for a log or a counter. While you develop, hand body and
   * headers to `verifier.explain`, which says why a signature does not match. What it throws is ignored.
   */
  onRefused?: ((code: VerificationCode, refused: RefusedDelivery) => void) | undefined;
  /**
   * Told of every verified delivery whose type this version of the package does not list; `onEvent` gets it too.
   * Default: one line on the console. What it throws is ignored.
   */
  onUnknownType?: ((type: string, eventId: string) => void) | undefined;
}

/** How deliveries are verified: by a verifier of your own, or by one that is made from the signing secret. */
export type ReceiverTrust =
  | {
      /** Judges deliveries. */
      verifier: Pick<Verifier, "verifyEnvelope">;
      secret?: undefined;
    }
  | {
      /** The signing secret, or up to eight during a rotation. An absent one is answered `invalid_secret`, 503. */
      secret: string | readonly string[] | undefined;
      verifier?: undefined;
    };

/** Settings of `createReceiver`. */
export type ReceiverOptions = ReceiverSettings & ReceiverTrust;

/** Makes the verifier of a receiver that is given a secret. */
export type MakeVerifier = (secret: string | readonly string[], maxBodyBytes: number) => Verifier;

/** The settings, complete and checked. */
export interface Setup {
  readonly verifier: Pick<Verifier, "verifyEnvelope">;
  readonly store: LeasingStore;
  readonly onEvent: ReceiverSettings["onEvent"];
  readonly onFailure: OnFailure;
  readonly maxBodyBytes: number;
  readonly answerWithinMs: number;
  readonly leaseMs: number;
  readonly retryDelayMs: number;
  /** Reports without ever throwing. */
  readonly report: (error: unknown, context: ErrorContext) => void;
  /** Tells of a refused delivery, likewise. */
  readonly refused: (code: VerificationCode, delivery: RefusedDelivery) => void;
  /** Tells of a type that is not listed, likewise. */
  readonly unknownType: (type: string, eventId: string) => void;
}

type Duration = "answerWithinSeconds" | "leaseSeconds" | "retryDelaySeconds";

const OPTIONS = [
  "secret",
  "verifier",
  "store",
  "onEvent",
  "onFailure",
  "maxBodyBytes",
  "answerWithinSeconds",
  "leaseSeconds",
  "retryDelaySeconds",
  "onError",
  "onRefused",
  "onUnknownType",
];
const ABOVE_ZERO = Number.MIN_VALUE;
const ANSWER_SECONDS_DEFAULT = 10;
const ANSWER_SECONDS_MAX = 3600;
const LEASE_SECONDS_DEFAULT = 300;
const LEASE_SECONDS_MAX = 86_400;
const RETRY_SECONDS_DEFAULT = 10;
const RETRY_SECONDS_MAX = 3600;

/** Checks the settings and fills in the defaults. Throws a `TypeError` or a `RangeError` that names the setting. */
export function setUp(options: ReceiverOptions, makeVerifier: MakeVerifier): Setup {
  checkOptions(options, OPTIONS);
  const { onEvent, onFailure = "retry-internally", onError = toConsole, onRefused = () => {} } = options;
  const { onUnknownType = noteUnknownType } = options;
  if (typeof onEvent !== "function") throw new TypeError("onEvent must be a function");
  if (typeof onError !== "function") throw new TypeError("onError must be a function");
  if (typeof onRefused !== "function") throw new TypeError("onRefused must be a function");
  if (typeof onUnknownType !== "function") throw new TypeError("onUnknownType must be a function");
  if (onFailure !== "retry-internally" && onFailure !== "ask-for-redelivery") {
    throw new TypeError('onFailure must be "retry-internally" or "ask-for-redelivery"');
  }
  const maxBodyBytes = number("maxBodyBytes", options.maxBodyBytes ?? BODY_BYTES_DEFAULT, 1, BODY_BYTES_MAX);
  if (!Number.isInteger(maxBodyBytes)) throw new RangeError("maxBodyBytes must be a whole number");
  const milliseconds = (name: Duration, initial: number, min: number, max: number) =>
    Math.ceil(number(name, options[name] ?? initial, min, max) * 1000);
  return {
    verifier: trusted(options, maxBodyBytes, makeVerifier),
    store: leasing(checkedStore(options.store)),
    onEvent,
    onFailure,
    maxBodyBytes,
    answerWithinMs: milliseconds("answerWithinSeconds", ANSWER_SECONDS_DEFAULT, ABOVE_ZERO, ANSWER_SECONDS_MAX),
    leaseMs: milliseconds("leaseSeconds", LEASE_SECONDS_DEFAULT, ABOVE_ZERO, LEASE_SECONDS_MAX),
    retryDelayMs: milliseconds("retryDelaySeconds", RETRY_SECONDS_DEFAULT, 0, RETRY_SECONDS_MAX),
    report: silently(onError),
    refused: silently(onRefused),
    unknownType: silently(onUnknownType),
  };
}

function trusted(options: ReceiverTrust, maxBodyBytes: number, makeVerifier: MakeVerifier): Setup["verifier"] {
  const { verifier } = options;
  if (verifier === undefined) {
    if (!("secret" in options)) throw new TypeError("options must have a secret or a verifier");
    // An absent secret (an environment variable that is not set) is a verdict, not a mistake of the caller's code.
    return makeVerifier(options.secret as string | readonly string[], maxBodyBytes);
  }
  if (options.secret !== undefined) throw new TypeError("options must have a secret or a verifier, not both");
  if (typeof verifier?.verifyEnvelope !== "function") throw new TypeError("verifier must be a Verifier");
  return verifier;
}

function checkedStore(store: ClaimStore): ClaimStore {
  for (const method of ["claim", "complete", "fail", "pending"] as const) {
    if (typeof store?.[method] !== "function") {
      throw new TypeError(`store must be a claim store: it has no ${method}()`);
    }
  }
  return store;
}

function number(name: string, value: unknown, min: number, max: number): number {
  if (typeof value !== "number") throw new TypeError(`${name} must be a number`);
  if (!(value >= min && value <= max)) {
    throw new RangeError(`${name} must be ${min === ABOVE_ZERO ? "above 0" : `at least ${min}`}, and at most ${max}`);
  }
  return value;
}

function toConsole(error: unknown, { code, eventId }: ErrorContext): void {
  console.error(`verify-wasm receiver: ${code}${eventId === null ? "" : ` (event ${eventId})`}:`, error);
}

function noteUnknownType(type: string, eventId: string): void {
  console.info(`verify-wasm receiver: an event of the unknown type ${JSON.stringify(type)} (event ${eventId})`);
}
