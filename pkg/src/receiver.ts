// The receiver: one delivery from its bytes to its answer (contract 11).
//
//   method, media type, size ─► verify ─► claim the id ─► onEvent ─► complete or fail ─► {"code": …}
//
// `createReceiver` returns a function over the web platform's Request and Response. Adapters of frameworks that have
// something else read the body themselves and call `receive`. What happens after the claim depends on `onFailure`:
//
//   retry-internally     The answer is 200 once the id is claimed, whatever becomes of `onEvent`. A duplicate is 200
//                        and has no effect. What failed, or was left behind by a process that died, stays in the
//                        store and is taken up by `retryPending`, which the application calls from its own timer.
//   ask-for-redelivery   The answer is 200 only once the event is processed. A redelivery of one that is not takes it
//                        up; while somebody is working on it the answer is 500, because a 200 would end the sender's
//                        retries before it is known whether they are needed.
//
// In both, an event is acted on by one attempt at a time, and an event that was answered 200 is processed or pending.
// Deliberately absent: timers that retry by themselves, because a function that lives for one request cannot have
// them, and only the application knows when it stops.

import { refusedHead } from "./admission.js";
import { act } from "./attempt.js";
import * as answers from "./answers.js";
import type { ReceiverAnswer } from "./answers.js";
import { TOO_LARGE, readBody } from "./bounded-body.js";
import type { Claim, ClaimRecord } from "./claim-store.js";
import type { FetchRequest, FetchResponse } from "./fetch-types.js";
import { type ReceiverOptions, type Setup, setUp } from "./receiver-options.js";
import type { Envelope, RequestHeaders, VerificationCode, WebhookEvent } from "./types.js";

/** One delivery, as an adapter hands it over. */
export interface ReceivedDelivery {
  /** The request's method, in upper case. */
  readonly method: string;
  /** The value of `Content-Type`; `null` when there is none. */
  readonly contentType: string | null;
  /** The raw bytes of the body; `null` when there is none or it broke off. */
  readonly body: Uint8Array | null;
  /** The request's headers, in any of the usual forms. */
  readonly headers: RequestHeaders;
}

/** What one call of `retryPending` did. */
export interface RetrySummary {
  /** Events whose attempt succeeded. */
  readonly processed: number;
  /** Events whose attempt failed; they stay pending. */
  readonly failed: number;
  /** Events whose attempt was begun and still runs. */
  readonly running: number;
}

/** Receives deliveries. Call it with a `Request`, or let an adapter call `receive`. */
export interface Receiver {
  /**
   * Answers one request. Rejects with a `TypeError` when the request's body was read before, which is a mistake in the
   * application: the sender then gets whatever the framework answers to an error, and comes again.
   */
  (request: FetchRequest): Promise<FetchResponse>;
  /** The longest body that an adapter may read, bytes; what is longer is answered 413 without reading on. */
  readonly maxBodyBytes: number;
  /**
   * Answers one delivery whose body is in memory. Never rejects for what a sender can cause.
   *
   * @throws {TypeError} the body or the headers have a form that cannot be a request's
   */
  receive(delivery: ReceivedDelivery): Promise<ReceiverAnswer>;
  /**
   * Makes another attempt at up to `limit` (default 100) pending events that are due: those whose attempt failed, and
   * those whose process died. To be called again and again by a timer of yours, in as many processes as you like.
   *
   * @throws {RangeError} `limit` is not a whole number from 1 to 1000
   * @throws the store's error, when it cannot say what is pending
   */
  retryPending(options?: { limit?: number | undefined }): Promise<RetrySummary>;
}

const RETRY_LIMIT_DEFAULT = 100;
const RETRY_LIMIT_MAX = 1000;

/** What is stored was found to be UTF-8 before it was. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Makes a receiver.
 *
 * @throws {TypeError} an option is missing or has the wrong type
 * @throws {RangeError} an option is outside its range
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  const setup = setUp(options);
  return Object.assign((request: FetchRequest) => respond(setup, request), {
    maxBodyBytes: setup.maxBodyBytes,
    receive: (delivery: ReceivedDelivery) => receive(setup, delivery),
    retryPending: (options: { limit?: number | undefined } = {}) => retryPending(setup, options),
  });
}

async function respond(setup: Setup, request: FetchRequest): Promise<FetchResponse> {
  const { method, headers } = request;
  const contentType = headers.get("content-type");
  const contentEncoding = headers.get("content-encoding");
  const answer = refusedHead({ method, contentType, contentEncoding }) ?? (await readAndReceive());
  return new Response(JSON.stringify(answer.body), { status: answer.status, headers: answer.headers }) as FetchResponse;

  async function readAndReceive(): Promise<ReceiverAnswer> {
    const body = await readBody(request, setup.maxBodyBytes);
    if (body === TOO_LARGE) return answers.PAYLOAD_TOO_LARGE;
    return receive(setup, { method, contentType, body, headers });
  }
}

async function receive(setup: Setup, delivery: ReceivedDelivery): Promise<ReceiverAnswer> {
  const { method, contentType, body, headers } = delivery;
  const refused = refusedHead({ method, contentType, contentEncoding: null });
  if (refused !== null) return refused;
  if (body !== null && body.byteLength > setup.maxBodyBytes) return answers.PAYLOAD_TOO_LARGE;

  let envelope: Envelope;
  try {
    envelope = setup.verifier.verifyEnvelope(body, headers);
  } catch (error) {
    if (!isVerificationError(error)) throw error;
    if (error.code === "invalid_secret") setup.report(error, { code: error.code, eventId: null });
    return answers.rejected(error.code, error.status);
  }
  // A delivery that passed has a body.
  return answerInTime(setup, envelope, body as Uint8Array);
}

/** Two copies of this package may be loaded, one per module system: their classes differ, the error's name does not. */
function isVerificationError(error: unknown): error is { code: VerificationCode; status: number } {
  const { name, code, status } = (error ?? {}) as { name?: unknown; code?: unknown; status?: unknown };
  return name === "VerificationError" && typeof code === "string" && typeof status === "number";
}

/** Claims and acts, but lets the sender wait no longer than it is willing to. What goes on is answered as it stands. */
async function answerInTime(setup: Setup, envelope: Envelope, body: Uint8Array): Promise<ReceiverAnswer> {
  let inTheMeantime: ReceiverAnswer = answers.STORAGE_UNAVAILABLE;
  const answer = claimAndAct(setup, envelope, body, () => {
    inTheMeantime = setup.onFailure === "retry-internally" ? answers.ACCEPTED : answers.IN_PROGRESS;
  });
  return (await withinMs(answer, setup.answerWithinMs)) ?? inTheMeantime;
}

async function claimAndAct(
  setup: Setup,
  envelope: Envelope,
  body: Uint8Array,
  onLease: () => void,
): Promise<ReceiverAnswer> {
  let attempt = 1;
  try {
    const claimed = await setup.store.claim(envelope.id, recordOf(envelope, body), setup.leaseMs);
    if (claimed !== "first") {
      if (setup.onFailure === "retry-internally") return answers.DUPLICATE;
      const taken = await setup.store.takeUp(envelope.id, setup.leaseMs);
      if (taken.outcome === "finished") return answers.DUPLICATE;
      if (taken.outcome === "busy") return answers.IN_PROGRESS;
      attempt = taken.attempt;
    }
  } catch (error) {
    setup.report(error, { code: "storage_unavailable", eventId: envelope.id });
    return answers.STORAGE_UNAVAILABLE;
  }
  onLease();
  const outcome = await act(setup, envelope.id, attempt, () => envelope.event);
  if (outcome === "processed" || setup.onFailure === "retry-internally") return answers.ACCEPTED;
  return outcome === "unnoted" ? answers.STORAGE_UNAVAILABLE : answers.PROCESSING_FAILED;
}

function recordOf(envelope: Envelope, body: Uint8Array): ClaimRecord {
  const { type, createdAt, livemode, merchant } = envelope;
  return { type, createdAt, merchantId: merchant.id, livemode, receivedAt: Date.now(), body };
}

async function retryPending(setup: Setup, { limit = RETRY_LIMIT_DEFAULT }: { limit?: number | undefined }): Promise<RetrySummary> {
  if (!Number.isInteger(limit) || limit < 1 || limit > RETRY_LIMIT_MAX) {
    throw new RangeError(`limit must be a whole number from 1 to ${RETRY_LIMIT_MAX}`);
  }
  const summary = { processed: 0, failed: 0, running: 0 };
  // One after the other: what failed may have failed because too much was asked at once.
  for (const claim of await setup.store.pending(limit)) {
    const outcome = await retry(setup, claim);
    if (outcome === "processed") summary.processed += 1;
    else if (outcome === "running") summary.running += 1;
    else if (outcome !== "busy") summary.failed += 1;
  }
  return summary;
}

/** Tries one event again, unless somebody else does or it is not due. One that takes long is not waited for. */
async function retry(setup: Setup, { id, body }: Claim): Promise<"processed" | "failed" | "unnoted" | "running" | "busy"> {
  const taken = await setup.store.takeUp(id, setup.leaseMs);
  if (taken.outcome !== "taken") return "busy";
  const event = () => JSON.parse(decoder.decode(body)) as WebhookEvent;
  return (await withinMs(act(setup, id, taken.attempt, event), setup.answerWithinMs)) ?? "running";
}

/** What a promise resolves to, or `undefined` when that takes longer. */
async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
