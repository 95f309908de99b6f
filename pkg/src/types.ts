// What goes in and what comes out, as TypeScript sees it. No runtime code.

import type { VerificationCode } from "./codes.js";
import type { WebhookEvent } from "./events.js";

export type { VerificationCode, WebhookEvent };

/**
 * The raw request body, exactly as transmitted. `Buffer` is a `Uint8Array`; a string stands for its UTF-8 bytes;
 * `null` and `undefined` are an absent body. Never the parsed object: parsing loses the bytes that were signed.
 */
export type RawBody = Uint8Array | ArrayBuffer | string | null | undefined;

/** Anything that looks up headers as the Fetch standard's `Headers` does: any letter case, joined lines. */
export interface FetchHeaders {
  /** All lines of that name joined with `", "`; `null` when there is none. */
  get(name: string): string | null;
  /** Never called; tells such an object from others that can `get`, a `Map` for example. */
  append(name: string, value: string): void;
}

/** Names in any letter case, as in Node's `request.headers`; several lines of one name as an array. */
export type HeaderRecord = { readonly [name: string]: string | readonly string[] | undefined };

/** Name and value of each line in order of arrival; a name may appear more than once. */
export type HeaderPairs = Iterable<readonly [name: string, value: string]>;

/** The request's headers in any of the usual forms. */
export type RequestHeaders = FetchHeaders | HeaderRecord | HeaderPairs;

/** An object whose members are not interpreted here. */
export type JsonObject = { [member: string]: unknown };

/** The verified fields of an event. The event itself is built on the first access of `event`. */
export interface Envelope {
  /** Public and immutable; the key to deduplicate by. */
  readonly id: string;
  /** Name from the event catalog; tolerate names you do not know. */
  readonly type: string;
  /** The version that the event was serialised with, `YYYY-MM-DD`. */
  readonly apiVersion: string;
  /** When the event was created, `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly createdAt: string;
  /** Position in the stream of this merchant and mode; `null` when the event has none. */
  readonly sequence: number | null;
  /** The version of `data.object`; `null` when it has none. */
  readonly resourceVersion: number | null;
  /** `false` for test data; `null` when the event does not say. */
  readonly livemode: boolean | null;
  /** The merchant that owns the record. */
  readonly merchant: { readonly id: string; readonly slug: string };
  /** The event as `verify` returns it; the same object at every access. */
  readonly event: WebhookEvent;
}

/** The answer of `check`. */
export type CheckResult = { ok: true; event: WebhookEvent } | { ok: false; code: VerificationCode };

/** By which headers deliveries are verified: `Service-*`, or the `webhook-*` headers of Standard Webhooks. */
export type SignatureProfile = "service" | "standard-webhooks";

/** Settings of a `Verifier`. */
export interface VerifierOptions {
  /**
   * The headers to verify by. Default `"service"`, which every delivery can be verified by. `"standard-webhooks"` is for
   * endpoints that were created with that `signature_profile`: their secret is `whsec_` and base64.
   */
  profile?: SignatureProfile | undefined;
  /** How far the timestamp may lie from now, whole seconds, 1 to 3600. Default 300. */
  toleranceSeconds?: number | undefined;
  /**
   * The longest body that is looked at, bytes, 1 to 268,435,456. Default 16 MiB (16,777,216). A longer one is refused with
   * `invalid_payload` before anything of it is copied. Events have at most 256 KiB.
   */
  maxBodyBytes?: number | undefined;
  /** The current time in Unix milliseconds. Default `Date.now`. */
  now?: (() => number) | undefined;
}

/** What probably happened to a delivery that was refused. The list grows; meet one that you do not know with its text. */
export type CauseCode =
  | "body_consumed"
  | "body_not_sent"
  | "secret_missing"
  | "secret_blanks"
  | "secret_quoted"
  | "secret_prefix_missing"
  | "secret_characters"
  | "secret_cut_off"
  | "secret_case"
  | "secret_stray_end"
  | "header_renamed"
  | "header_dropped"
  | "not_a_delivery"
  | "header_blank"
  | "header_repeated"
  | "timestamp_unit"
  | "timestamp_date"
  | "timestamp_form"
  | "now_unit"
  | "time_zone"
  | "old_delivery"
  | "clock_skew"
  | "signature_uppercase"
  | "signature_base64"
  | "signature_prefix_missing"
  | "signature_quoted"
  | "signature_separator"
  | "signature_cut_off"
  | "signature_scheme"
  | "signature_too_long"
  | "signature_form"
  | "other_secret"
  | "key_decoded"
  | "key_encoded"
  | "key_without_prefix"
  | "signed_other_string"
  | "body_reserialized"
  | "body_newline"
  | "body_line_endings"
  | "body_bom"
  | "body_trimmed"
  | "body_charset"
  | "body_decoded_lossy"
  | "body_stringified"
  | "body_buffer_json"
  | "body_base64"
  | "body_object_text"
  | "body_form_encoded"
  | "body_compressed"
  | "body_cut_off"
  | "body_length_differs"
  | "body_too_large"
  | "body_over_limit"
  | "other_secret_or_bytes"
  | "json_bom"
  | "json_utf8"
  | "json_cut_off"
  | "json_trailing"
  | "json_syntax"
  | "json_depth"
  | "json_surrogate"
  | "json_number"
  | "payload_not_object"
  | "member_repeated"
  | "member_missing"
  | "member_type"
  | "member_form"
  | "event_id_quoted"
  | "event_id_differs";

/** One likely cause. */
export interface Cause {
  readonly cause: CauseCode;
  /** What was seen, a sentence or two. Holds nothing of a secret or of an expected signature. */
  readonly evidence: string;
  /** What to do about it. */
  readonly fix: string;
}

/** The answer of `explain`. */
export interface Explanation {
  /** What `check` answers. */
  readonly code: "ok" | VerificationCode;
  /** The likeliest first; empty exactly when the code is `ok`. */
  readonly causes: readonly Cause[];
}

/** Settings of `explain`. */
export interface ExplainOptions {
  /**
   * Secrets that the sender may have used by mistake, at most eight: the previous one, those of other endpoints or of
   * the other mode. They are compared, and never make a delivery valid.
   */
  otherSecrets?: readonly string[] | undefined;
}

/** Settings of `sign`. */
export interface SignOptions {
  /** The time of signing in Unix milliseconds. Default `Date.now`. */
  now?: (() => number) | undefined;
  /** Value of `Service-Event-Id`. Default: the body's `id`. */
  eventId?: string | undefined;
}

/** The headers of a delivery, in the spelling in which they are sent. */
export interface SignedHeaders {
  /** The event's `id`. */
  "Service-Event-Id": string;
  /** The time of signing, ten digits of Unix seconds. */
  "Service-Timestamp": string;
  /** `v1=` and 64 hexadecimal characters, once for each secret. */
  "Service-Signature": string;
  /** The event's `api_version`. */
  "Service-Version": string;
}
