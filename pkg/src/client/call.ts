// One call: the same request, tried until it is answered, refused for good, or out of time.
//
//   key made ─► try ─► 2xx: the body, parsed
//                ▲  └─► an answer or a failure that may pass ─► wait (Retry-After, else full jitter) ─┐
//                └───────────────────────────────────────────────────────────────────────────────────┘
//
// The idempotency key of a write is made before the first try and sent with each, so a write whose answer was lost is
// done once all the same (contract 4.3). A wait that would end after the deadline is not begun: the caller gets the error
// while there is still something to decide. Deliberately absent: redirects, which would carry the key elsewhere.

import { jitter, retryAfterMs, sleep } from "./backoff.js";
import { CLASSES } from "./error-classes.js";
import { ApiError, ClientError, ConnectionError, type MemberError, UnexpectedAnswerError } from "./errors.js";
import type { ConditionalWriteOptions, FetchedAnswer, SentRequest, TriedRequest } from "./options.js";
import { type Settings, boundsOf } from "./settings.js";

/** What is asked for. */
export interface Call {
  readonly operation: string;
  readonly method: string;
  /** With the query, without the origin. */
  readonly path: string;
  /** JSON. */
  readonly body: string | undefined;
  readonly options: ConditionalWriteOptions;
}

/** A try that failed. */
interface Failure {
  readonly error: ClientError;
  readonly answer: FetchedAnswer | null;
}

const VISIBLE = /^[!#-~]{1,255}$/;
const TRACEPARENT = /^[0-9a-f]{2}(-[0-9a-f]+)+$/;

/** Resolves to the answer's body, or rejects with a `ClientError` or the reason of the caller's signal. */
export async function call(settings: Settings, asked: Call): Promise<unknown> {
  const { options, method, operation, path } = asked;
  const signal = options.signal as AbortSignal | undefined;
  const bounds = boundsOf(options, settings.bounds);
  const headers = headersOf(settings, asked);
  const idempotencyKey = headers["idempotency-key"] ?? null;
  const end = performance.now() + bounds.deadlineMs;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    const sent: SentRequest = { operation, method, path, attempt, idempotencyKey };
    settings.onRequest?.(sent);
    signal?.throwIfAborted();
    const begin = performance.now();
    const timeoutMs = Math.max(1, Math.min(bounds.timeoutMs, end - begin));
    const outcome = await attemptOnce(settings, asked, headers, timeoutMs);
    const failure = "error" in outcome ? outcome : null;
    const retryInMs = failure === null || attempt > bounds.maxRetries ? null : waitBefore(failure.error, attempt, end);
    settings.onResponse?.(tried(sent, outcome, begin, retryInMs));
    if (!("error" in outcome)) return outcome.body;
    if (retryInMs === null || signal?.aborted) {
      signal?.throwIfAborted();
      throw outcome.error;
    }
    await sleep(retryInMs, signal);
  }
}

/** The wait before the next try; `null` when there shall be none. */
function waitBefore(error: ClientError, attempt: number, end: number): number | null {
  if (!error.retryable) return null;
  const asked = (error as { retryAfterMs?: number | null }).retryAfterMs ?? 0;
  const wait = asked + jitter(attempt);
  return performance.now() + wait < end ? wait : null;
}

function headersOf(settings: Settings, { method, body, options }: Call): Record<string, string> {
  const headers: Record<string, string> = { ...settings.headers };
  if (body !== undefined) headers["content-type"] = "application/json";
  const { idempotencyKey, ifMatch } = options;
  if (method !== "GET") {
    if (idempotencyKey !== undefined && (typeof idempotencyKey !== "string" || !VISIBLE.test(idempotencyKey))) {
      throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters without "');
    }
    headers["idempotency-key"] = idempotencyKey ?? crypto.randomUUID();
  }
  if (ifMatch !== undefined) {
    if (ifMatch !== "*" && !(Number.isSafeInteger(ifMatch) && ifMatch >= 0)) {
      throw new TypeError('ifMatch must be a resource_version or "*"');
    }
    headers["if-match"] = ifMatch === "*" ? "*" : `"${ifMatch}"`;
  }
  const traceparent = options.traceparent ?? settings.traceparent?.();
  if (traceparent !== undefined && TRACEPARENT.test(traceparent)) headers["traceparent"] = traceparent;
  return headers;
}

async function attemptOnce(
  settings: Settings,
  asked: Call,
  headers: Record<string, string>,
  timeoutMs: number,
): Promise<Failure | { body: unknown; answer: FetchedAnswer }> {
  const idempotencyKey = headers["idempotency-key"] ?? null;
  const signal = asked.options.signal as AbortSignal | undefined;
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal?.addEventListener("abort", abort, { once: true });
  let answer: FetchedAnswer | null = null;
  let text: string;
  try {
    const { method, body } = asked;
    const request = { method, headers, redirect: "manual" as const, signal: controller.signal };
    answer = await settings.fetch(settings.origin + asked.path, body === undefined ? request : { ...request, body });
    text = await answer.text();
  } catch (cause) {
    const message = controller.signal.aborted ? `no answer within ${Math.round(timeoutMs)} ms` : unreached(settings, cause);
    return { error: new ConnectionError(asked.operation, idempotencyKey, message, cause), answer: null };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
  const { status } = answer;
  const body = parsed(text);
  if (status >= 200 && status < 300 && isRecord(body)) return { body, answer };
  return { error: refusalOf(settings, asked, answer, body, idempotencyKey), answer };
}

/** Names the address that was tried, and what the platform says of it. */
function unreached({ origin }: Settings, cause: unknown): string {
  const inner = (cause as { cause?: unknown } | null)?.cause ?? cause;
  const said = inner instanceof Error ? (inner as { code?: unknown }).code ?? inner.message : "the request failed";
  return `no answer from ${origin} (${String(said)})`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Every answer of the service is a JSON object. */
function isRecord(body: unknown): boolean {
  return typeof body === "object" && body !== null && !Array.isArray(body);
}

function refusalOf(
  { origin }: Settings,
  { operation }: Call,
  { status, headers }: FetchedAnswer,
  body: unknown,
  idempotencyKey: string | null,
): ClientError {
  const problem = (body ?? {}) as { code?: unknown; detail?: unknown; param?: unknown; errors?: unknown };
  const wait = retryAfterMs(headers.get("retry-after"));
  if (typeof problem.code !== "string" || status < 400) {
    return new UnexpectedAnswerError(operation, idempotencyKey, status, wait);
  }
  // An answer may say anything, also the name of a member that every object has.
  const Class = (Object.hasOwn(CLASSES, problem.code) ? CLASSES[problem.code] : undefined) ?? ApiError;
  return new Class({
    operation,
    status,
    code: problem.code,
    detail: String(problem.detail ?? ""),
    param: typeof problem.param === "string" ? problem.param : null,
    errors: Array.isArray(problem.errors) ? problem.errors.filter(isMemberError) : [],
    requestId: headers.get("service-request-id"),
    docUrl: `${origin}/docs#/${anchorOf(operation)}`,
    idempotencyKey,
    retryAfterMs: wait,
  });
}

/** Something else than the authority may have answered. */
function isMemberError(error: unknown): error is MemberError {
  const { pointer, code, detail } = (error ?? {}) as Partial<MemberError>;
  return [pointer, code, detail].every((member) => typeof member === "string");
}

/** Where the page of the API describes an operation: `refunds.request` is at `refunds/refundsRequest`. */
function anchorOf(operation: string): string {
  const tag = operation.slice(0, operation.indexOf(".")).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return `${tag}/${operation.replace(/\.(.)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function tried(
  sent: SentRequest,
  outcome: Failure | { answer: FetchedAnswer },
  begin: number,
  retryInMs: number | null,
): TriedRequest {
  const { answer } = outcome;
  return {
    ...sent,
    status: answer?.status ?? null,
    requestId: answer?.headers.get("service-request-id") ?? null,
    durationMs: performance.now() - begin,
    replayed: answer?.headers.get("idempotent-replayed") === "true",
    error: "error" in outcome ? outcome.error : null,
    retryInMs,
  };
}
