// Why a call failed. Each error code of the API has a class of its own in `error-classes.ts`.

/** What is wrong with one member of the body. */
export interface MemberError {
  /** Where, as RFC 6901 writes it; empty for the body itself. */
  readonly pointer: string;
  /** What is wrong. */
  readonly code: string;
  /** For people. */
  readonly detail: string;
}

/** What an error is made of. */
export interface Refusal<Code extends string = string> {
  readonly operation: string;
  readonly status: number;
  readonly code: Code;
  readonly detail: string;
  readonly param: string | null;
  readonly errors: readonly MemberError[];
  readonly requestId: string | null;
  readonly docUrl: string;
  readonly idempotencyKey: string | null;
  readonly retryAfterMs: number | null;
}

/** Common to everything that a call fails with, apart from the reason of a signal of yours. */
export abstract class ClientError extends Error {
  /** `refunds.request`, for example. */
  readonly operation: string;
  /** The key of the write: to ask again with it can do no work twice. `null` for reads. */
  readonly idempotencyKey: string | null;
  /** Whether the same call can succeed later without a change. */
  abstract readonly retryable: boolean;

  constructor(message: string, operation: string, idempotencyKey: string | null, options?: ErrorOptions) {
    super(message, options);
    this.operation = operation;
    this.idempotencyKey = idempotencyKey;
  }
}

/** The service refused. */
export class ApiError<Code extends string = string> extends ClientError {
  /** The HTTP status. */
  readonly status: number;
  /** What to branch on. A later version of the service may have others. */
  readonly code: Code;
  /** What to tell support; also in the service's log. */
  readonly requestId: string | null;
  /** The first member of the body that is wrong, as RFC 6901 writes it; `null` when none is. */
  readonly pointer: string | null;
  /** The query parameter or header that is wrong. */
  readonly param: string | null;
  /** Every member of the body that is wrong. */
  readonly errors: readonly MemberError[];
  /** Where the operation is described. */
  readonly docUrl: string;
  /** How long the service asks to wait, milliseconds. */
  readonly retryAfterMs: number | null;
  readonly retryable: boolean;

  constructor(refusal: Refusal<Code>) {
    super(sentence(refusal), refusal.operation, refusal.idempotencyKey);
    this.name = nameOf(refusal.code);
    this.status = refusal.status;
    this.code = refusal.code;
    this.requestId = refusal.requestId;
    this.pointer = refusal.errors[0]?.pointer ?? null;
    this.param = refusal.param;
    this.errors = refusal.errors;
    this.docUrl = refusal.docUrl;
    this.retryAfterMs = refusal.retryAfterMs;
    this.retryable = isRetryable(refusal.status, refusal.code);
  }
}

/** Something answered that is not the service: a proxy's page, a redirect, a body that breaks off. */
export class UnexpectedAnswerError extends ClientError {
  /** The HTTP status. */
  readonly status: number;
  readonly retryable: boolean;
  /** How long the sender asks to wait, milliseconds. */
  readonly retryAfterMs: number | null;

  constructor(operation: string, idempotencyKey: string | null, status: number, retryAfterMs: number | null) {
    const where = status >= 300 && status < 400 ? "Does baseUrl name the authority itself?" : "Is there a proxy in between?";
    super(`${operation}: the answer (status ${status}) is not the service's. ${where}`, operation, idempotencyKey);
    this.name = "UnexpectedAnswerError";
    this.status = status;
    this.retryable = status < 300 || isRetryable(status, null);
    this.retryAfterMs = retryAfterMs;
  }
}

/** There was no answer: the connection failed or broke off, or the answer took longer than `timeoutMs`. */
export class ConnectionError extends ClientError {
  readonly retryable = true;

  constructor(operation: string, idempotencyKey: string | null, message: string, cause: unknown) {
    super(`${operation}: ${message}`, operation, idempotencyKey, { cause });
    this.name = "ConnectionError";
  }
}

/** What `catchUp` rejects with when `process` has failed. The cursor was not saved: call `catchUp` again. */
export class ProcessingError extends Error {
  /** The event, or the order, that could not be processed. */
  readonly id: string;

  constructor(id: string, cause: unknown) {
    super(`${id} could not be processed: ${cause instanceof Error ? cause.message : "process failed"}`, { cause });
    this.name = "ProcessingError";
    this.id = id;
  }
}

const RETRYABLE_STATUSES = new Set([408, 429, 500, 502, 503, 504]);

/** Contract 19, "Retries". Of the conflicts only the one that ends by itself. */
function isRetryable(status: number, code: string | null): boolean {
  return RETRYABLE_STATUSES.has(status) || code === "idempotency_key_in_use";
}

/** `not_found` is a `NotFoundError`. Made from the code, since bundlers shorten the names of classes. */
function nameOf(code: string): string {
  const words = code.replace(/_error$/, "").split("_");
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}Error`;
}

function sentence({ operation, status, code, detail, errors, param, requestId }: Refusal): string {
  const said = [`${operation}: ${status} ${code}.`, param === null ? detail : `${param}: ${detail}`];
  said.push(...errors.map((error) => `${error.pointer || "The body"}: ${error.detail}`));
  if (requestId !== null) said.push(`(${requestId})`);
  return said.join(" ");
}
