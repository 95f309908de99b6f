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

import { EVENT_TYPES } from "./events.js";
import type { FetchRequest, FetchResponse } from "./fetch-types.js";
import { checkOptions } from "./known-options.js";
import { refusedHead } from "./receiver/admission.js";
import * as answers from "./receiver/answers.js";
import type { ReceiverAnswer } from "./receiver/answers.js";
import { TOO_LARGE, readBody } from "./receiver/bounded-body.js";
import { type Outcome, type RetrySummary, claimAndAct, retryDue } from "./receiver/claimed-work.js";
import { listedEvent } from "./receiver/listed-event.js";
import { type MakeVerifier, type OnFailure, type ReceiverOptions, type Setup, setUp } from "./receiver/options.js";
import { isRefusal } from "./receiver/refusal.js";
import type { ClaimRecord } from "./stores/claim-store.js";
import type { Envelope, RequestHeaders, WebhookEvent } from "./types.js";

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
   * @throws {TypeError} there is no such option
   * @throws {RangeError} `limit` is not a whole number from 1 to 1000
   * @throws the store's error, when it cannot say what is pending
   */
  retryPending(options?: { limit?: number | undefined }): Promise<RetrySummary>;
  /**
   * Takes an event that was read from the event list (`GET /events`), by the same claim as a delivery: to catch up after
   * a downtime. Only for events from there: nothing is verified, because nothing is signed.
   *
   * @returns `processed`; `duplicate`, when it was claimed before; or `pending`, when it is claimed and its effect has not
   *   happened yet. In each case the reader may go on and save its cursor: what is pending is `retryPending`'s.
   * @throws {TypeError} `event` is no event
   * @throws {Error} the claim could not be stored: do not go on
   */
  accept(event: WebhookEvent): Promise<"processed" | "duplicate" | "pending">;
}

const RETRY_LIMIT_DEFAULT = 100;
const RETRY_LIMIT_MAX = 1000;

/** What `createReceiver` does, by whoever has the core: this file knows no verifier of its own. */
export function receiverWith(options: ReceiverOptions, makeVerifier: MakeVerifier): Receiver {
  const setup = setUp(options, makeVerifier);
  return Object.assign((request: FetchRequest) => respond(setup, request), {
    maxBodyBytes: setup.maxBodyBytes,
    receive: (delivery: ReceivedDelivery) => receive(setup, delivery),
    retryPending: (options: { limit?: number | undefined } = {}) => retryPending(setup, options),
    accept: (event: WebhookEvent) => accept(setup, event),
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
    if (!isRefusal(error)) throw error;
    setup.refused(error.code, { body, headers });
    if (error.code === "invalid_secret") setup.report(error, { code: error.code, eventId: null });
    return answers.rejected(error.code, error.status);
  }
  if (!(EVENT_TYPES as readonly string[]).includes(envelope.type)) setup.unknownType(envelope.type, envelope.id);
  const event = () => envelope.event;
  // A delivery that passed has a body.
  const outcome = await claimAndAct(setup, { id: envelope.id, record: recordOf(envelope, body as Uint8Array), event });
  return answerTo(outcome, setup.onFailure);
}

function recordOf(envelope: Envelope, body: Uint8Array): ClaimRecord {
  const { type, createdAt, livemode, merchant } = envelope;
  return { type, createdAt, merchantId: merchant.id, livemode, receivedAt: Date.now(), body };
}

/** What the sender is told. Where it is asked to come again, 200 is the end of that. */
function answerTo(outcome: Outcome, onFailure: OnFailure): ReceiverAnswer {
  const isDone = onFailure === "retry-internally"; // as far as the sender is concerned
  switch (outcome) {
    case "processed":
      return answers.ACCEPTED;
    case "duplicate":
      return answers.DUPLICATE;
    case "unclaimed":
      return answers.STORAGE_UNAVAILABLE;
    case "failed":
      return isDone ? answers.ACCEPTED : answers.PROCESSING_FAILED;
    case "unnoted":
      return isDone ? answers.ACCEPTED : answers.STORAGE_UNAVAILABLE;
    case "running":
    case "busy":
      return isDone ? answers.ACCEPTED : answers.IN_PROGRESS;
  }
}

async function retryPending(
  setup: Setup,
  options: { limit?: number | undefined },
): Promise<RetrySummary> {
  checkOptions(options, ["limit"]);
  const { limit = RETRY_LIMIT_DEFAULT } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > RETRY_LIMIT_MAX) {
    throw new RangeError(`limit must be a whole number from 1 to ${RETRY_LIMIT_MAX}`);
  }
  return retryDue(setup, limit);
}

async function accept(setup: Setup, event: WebhookEvent): Promise<"processed" | "duplicate" | "pending"> {
  const genuine = listedEvent(event);
  const outcome = await claimAndAct(setup, genuine);
  if (outcome === "unclaimed") throw new Error(`event ${genuine.id} could not be claimed: the store is unavailable`);
  return outcome === "processed" || outcome === "duplicate" ? outcome : "pending";
}
