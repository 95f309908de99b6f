// The settings, checked and complete. The key is kept where neither `inspect` nor JSON finds it.

import { checkOptions } from "../known-options.js";
import { silently } from "../receiver/refusal.js";
import type { ClientOptions, FetchLike, SentRequest, TriedRequest } from "./options.js";

/** What a call goes by. */
export interface Settings {
  readonly origin: string;
  /** Every header that all requests have, the key among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: FetchLike;
  readonly bounds: Bounds;
  readonly onRequest: ((request: SentRequest) => void) | undefined;
  readonly onResponse: ((response: TriedRequest) => void) | undefined;
  readonly traceparent: (() => string | undefined) | undefined;
}

/** How often and how long a call tries. */
export interface Bounds {
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
}

/** The version of the contract that the client was generated for. */
const API_VERSION = "2026-09-01";
const USER_AGENT = "verify-wasm-client/0.2.0";

const NAMES = [
  "apiKey",
  "baseUrl",
  "allowHttp",
  "maxRetries",
  "timeoutMs",
  "deadlineMs",
  "fetch",
  "onRequest",
  "onResponse",
  "traceparent",
];
const BOUNDS = { maxRetries: [0, 20], timeoutMs: [1, 600_000], deadlineMs: [1, 3_600_000] } as const;
const DEFAULTS: Bounds = { maxRetries: 5, timeoutMs: 30_000, deadlineMs: 90_000 };

/**
 * @throws {TypeError} an option is missing, has the wrong type, or does not exist
 * @throws {RangeError} an option is outside its range
 */
export function settingsOf(options: ClientOptions): Settings {
  checkOptions(options, NAMES);
  const { apiKey, fetch = platformFetch(), onRequest, onResponse, traceparent } = options;
  for (const [name, value] of Object.entries({ fetch, onRequest, onResponse, traceparent })) {
    if (value !== undefined && typeof value !== "function") throw new TypeError(`${name} must be a function`);
  }
  return {
    origin: originOf(options),
    headers: {
      accept: "application/json",
      authorization: `Bearer ${checkedKey(apiKey)}`,
      "service-version": API_VERSION,
      "user-agent": USER_AGENT,
    },
    fetch,
    bounds: boundsOf(options, DEFAULTS),
    onRequest: onRequest && silently(onRequest),
    onResponse: onResponse && silently(onResponse),
    traceparent,
  };
}

/** The bounds of one call: its own, or else the client's. */
export function boundsOf(options: { [Name in keyof Bounds]?: number | undefined }, otherwise: Bounds): Bounds {
  const { maxRetries, timeoutMs, deadlineMs } = options;
  if (maxRetries === undefined && timeoutMs === undefined && deadlineMs === undefined) return otherwise;
  const bound = (name: keyof Bounds): number => {
    const value = options[name] ?? otherwise[name];
    const [min, max] = BOUNDS[name];
    if (!Number.isInteger(value)) throw new TypeError(`${name} must be a whole number`);
    if (value < min || value > max) throw new RangeError(`${name} must be from ${min} to ${max}`);
    return value;
  };
  return { maxRetries: bound("maxRetries"), timeoutMs: bound("timeoutMs"), deadlineMs: bound("deadlineMs") };
}

/** `svc_test_ab12…`: what may be shown of a key (contract 1.2). */
export function masked({ headers }: Settings): string {
  return `${(headers["authorization"] ?? "").slice("Bearer ".length, "Bearer svc_test_".length + 4)}…`;
}

// No message repeats what was given: it may be a key with a typing error.
function checkedKey(key: unknown): string {
  if (typeof key !== "string" || key === "") {
    throw new TypeError("apiKey must be the merchant's key: is the environment variable set?");
  }
  if (key.startsWith("svc_op_")) throw new TypeError("apiKey is an operator's key: this client is for a merchant's");
  if (!/^svc_(live|test)_[0-9A-Za-z]{49}$/.test(key)) {
    throw new TypeError("apiKey is not a merchant's key: svc_live_ or svc_test_ and 49 letters and digits");
  }
  return key;
}

function originOf({ baseUrl, allowHttp = false }: ClientOptions): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new TypeError("baseUrl must be the authority's origin, for example https://commerce.example.com");
  }
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new TypeError("baseUrl must be an origin alone: the paths are the client's");
  }
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && (isHere || allowHttp))) return url.origin;
  throw new TypeError("baseUrl must be https, because each request carries the key (allowHttp allows http)");
}

function platformFetch(): FetchLike {
  if (typeof globalThis.fetch !== "function") throw new TypeError("there is no fetch here: set the option fetch");
  return (url, request) => globalThis.fetch(url, request);
}
