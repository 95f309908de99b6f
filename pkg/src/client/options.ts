// What a client and each of its calls can be told, and what it tells. No runtime code.

import type { Signal } from "../fetch-types.js";

/** Settings of a client. */
export interface ClientOptions {
  /** The merchant's key, `svc_live_…` or `svc_test_…`. It decides the merchant and the mode. */
  apiKey: string;
  /** The origin of the authority, without a path: `https://commerce.example.com`. */
  baseUrl: string;
  /** Allows plain `http:` to other hosts than this machine, which shows the key to everybody on the way. */
  allowHttp?: boolean | undefined;
  /** How often a request is repeated after its first try, 0 to 20. Default 5. */
  maxRetries?: number | undefined;
  /** How long one try may take, milliseconds, 1 to 600,000. Default 30,000. */
  timeoutMs?: number | undefined;
  /** How long all tries of one call and the waits between them may take, milliseconds, 1 to 3,600,000. Default 90,000. */
  deadlineMs?: number | undefined;
  /** What sends requests. Default: the platform's `fetch`. */
  fetch?: FetchLike | undefined;
  /** Called before each try. What it throws is ignored. */
  onRequest?: ((request: SentRequest) => void) | undefined;
  /** Called after each try, answered or not. What it throws is ignored. */
  onResponse?: ((response: TriedRequest) => void) | undefined;
  /** The `traceparent` (W3C Trace Context) of whatever is going on; asked once per call. */
  traceparent?: (() => string | undefined) | undefined;
}

/** What every call can be told. */
export interface RequestOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  signal?: Signal | undefined;
  /** As the client's setting, for this call. */
  maxRetries?: number | undefined;
  /** As the client's setting, for this call. */
  timeoutMs?: number | undefined;
  /** As the client's setting, for this call. */
  deadlineMs?: number | undefined;
  /** The `traceparent` of this call. */
  traceparent?: string | undefined;
}

/** What a call that writes can be told. */
export interface WriteOptions extends RequestOptions {
  /**
   * Names the logical write: 1 to 255 visible ASCII characters without `"`. Give one of your own where your program may ask
   * again after it was restarted: the same key never does the work twice. Default: a new one per call, used for all its
   * tries.
   */
  idempotencyKey?: string | undefined;
}

/** What a call that changes a record with versions can be told. */
export interface ConditionalWriteOptions extends WriteOptions {
  /** The `resource_version` that the change is made for; another is refused with `resource_version_conflict`. `*`: any. */
  ifMatch?: number | "*" | undefined;
}

/** One try, before it is sent. */
export interface SentRequest {
  /** `refunds.request`, for example. */
  readonly operation: string;
  readonly method: string;
  /** With the query, without the origin. */
  readonly path: string;
  /** From 1. */
  readonly attempt: number;
  /** `null` for reads. */
  readonly idempotencyKey: string | null;
}

/** One try, after it. */
export interface TriedRequest extends SentRequest {
  /** The HTTP status; `null` when there was no answer. */
  readonly status: number | null;
  /** As the service calls the request; `null` when it did not say. */
  readonly requestId: string | null;
  /** How long it took, milliseconds. */
  readonly durationMs: number;
  /** Whether the answer is that of an earlier request with this key. */
  readonly replayed: boolean;
  /** Why it failed; `null` when it did not. */
  readonly error: Error | null;
  /** After how many milliseconds it is tried again; `null` when it is not. */
  readonly retryInMs: number | null;
}

/** The part of the platform's `fetch` that is used here. */
export type FetchLike = (
  url: string,
  request: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    redirect: "manual";
    // Each platform's `fetch` wants its own `AbortSignal`.
    signal: any;
  },
) => Promise<FetchedAnswer>;

/** The part of the platform's `Response` that is used here. */
export interface FetchedAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}
