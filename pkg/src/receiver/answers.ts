// What a receiver answers: a status and `{"code":"…"}`, never more (contract 11.1).
//
// Two answers are not in the contract's table. They exist only where `onFailure` is "ask-for-redelivery": both are
// 500, which makes the sender come again by its schedule. (A 503 would hold back the whole endpoint, contract 15.6.)

/** The answer to one delivery, for an adapter to write. */
export interface ReceiverAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** Header lines: `content-type`, and `allow` with a 405. Names are in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** The JSON body. */
  readonly body: { readonly code: string };
}

/** Verified, and claimed by this very delivery. */
export const ACCEPTED = answer(200, "ok");
/** Verified, and claimed before: no second effect. */
export const DUPLICATE = answer(200, "duplicate");
/** `onEvent` failed, and the sender is asked to come again. */
export const PROCESSING_FAILED = answer(500, "processing_failed");
/** Somebody is working on the event; the sender is asked to come again and hear what came of it. */
export const IN_PROGRESS = answer(500, "in_progress");
export const METHOD_NOT_ALLOWED = answer(405, "method_not_allowed", { allow: "POST" });
export const UNSUPPORTED_MEDIA_TYPE = answer(415, "unsupported_media_type");
/** The same for a compressed body. The service sends none, and the signature is over the bytes as it sent them. */
export const UNSUPPORTED_CONTENT_ENCODING = answer(415, "unsupported_media_type", { "accept-encoding": "identity" });
/** The body is longer than the receiver reads. */
export const PAYLOAD_TOO_LARGE = answer(413, "payload_too_large");
/** Verified, but the claim could not be stored: the sender must come again. */
export const STORAGE_UNAVAILABLE = answer(503, "storage_unavailable");

/** Something of the application's own went wrong. */
export const INTERNAL_ERROR = answer(500, "internal_error");

/** The answer to a delivery that was refused by the verification. */
export function rejected(code: string, status: number): ReceiverAnswer {
  return answer(status, code);
}

function answer(status: number, code: string, more: { [name: string]: string } = {}): ReceiverAnswer {
  return Object.freeze({
    status,
    headers: Object.freeze({ "content-type": "application/json", ...more }),
    body: Object.freeze({ code }),
  });
}
