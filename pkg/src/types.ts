// What goes in and what comes out, as TypeScript sees it. No runtime code.

/** Why a delivery was refused, in order of precedence (contract 10.2). */
export type VerificationCode =
  | "missing_body"
  | "invalid_secret"
  | "invalid_timestamp"
  | "stale_timestamp"
  | "missing_signature"
  | "invalid_signature"
  | "invalid_json"
  | "invalid_payload"
  | "invalid_event_id"
  | "invalid_event_type"
  | "invalid_api_version"
  | "invalid_created_at"
  | "invalid_merchant"
  | "invalid_data"
  | "event_id_mismatch";

/**
 * The raw request body, exactly as transmitted. `Buffer` is a `Uint8Array`; a string stands for its UTF-8 bytes;
 * `null` and `undefined` are an absent body. Never the parsed object: parsing loses the bytes that were signed.
 */
export type RawBody = Uint8Array | ArrayBuffer | string | null | undefined;

/** Anything that looks up headers as the Fetch standard's `Headers` does: any letter case, joined lines. */
export interface FetchHeaders {
  get(name: string): string | null;
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

/** A verified event: the result of `JSON.parse` of the signed text. Unknown types and extra members pass. */
export interface WebhookEvent {
  /** Public immutable id, begins with `evt_`. The key to deduplicate by. */
  id: string;
  /** Name from the event catalog, for example `order.confirmed`; tolerate names you do not know. */
  type: string;
  /** Version that the event was serialised with, `YYYY-MM-DD`. */
  api_version: string;
  /** When the event was created, `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  created_at: string;
  /** Position in the merchant's stream. */
  sequence?: number | null;
  /** Version of the resource, for updates with `If-Match`. */
  resource_version?: number | null;
  /** Whether the event belongs to live traffic. */
  livemode?: boolean | null;
  merchant: { id: string; slug: string; [member: string]: unknown };
  recipient?: JsonObject | null;
  data: { object: JsonObject; [member: string]: unknown };
  links?: JsonObject | null;
  [member: string]: unknown;
}

/** The verified fields of an event. The event itself is built on the first access of `event`. */
export interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly apiVersion: string;
  readonly createdAt: string;
  readonly sequence: number | null;
  readonly resourceVersion: number | null;
  readonly livemode: boolean | null;
  readonly merchant: { readonly id: string; readonly slug: string };
  readonly event: WebhookEvent;
}

/** The answer of `check`. */
export type CheckResult = { ok: true; event: WebhookEvent } | { ok: false; code: VerificationCode };

/** Settings of a `Verifier`. */
export interface VerifierOptions {
  /** How far `Service-Timestamp` may lie from now, whole seconds, 1 to 3600. Default 300. */
  toleranceSeconds?: number | undefined;
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
  "Service-Event-Id": string;
  "Service-Timestamp": string;
  "Service-Signature": string;
  "Service-Version": string;
}
