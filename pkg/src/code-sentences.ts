// What each code means, as a sentence for whoever reads the error: the receiver's developer, in a log.

import type { VerificationCode } from "./codes.js";

/** One sentence for each code; it says nothing of the delivery or of a secret. */
export const SENTENCES: { readonly [code in VerificationCode]: string } = {
  missing_body: "There is no body, or no byte in it.",
  invalid_secret: "No signing secret is configured, or one of them cannot be a secret of this service.",
  invalid_timestamp: "Service-Timestamp (or webhook-timestamp) is missing, or is not exactly ten digits.",
  stale_timestamp: "Service-Timestamp (or webhook-timestamp) lies further from the receiver's clock than the tolerance.",
  missing_signature: "Service-Signature (or webhook-signature) is missing or blank.",
  invalid_signature: "No v1 signature in the header fits: it was made with another secret, or over other bytes.",
  invalid_json: "The body is correctly signed, and is not one JSON text in UTF-8.",
  invalid_payload: "The body is no JSON object that an event can be, or it is longer than maxBodyBytes.",
  invalid_event_id: "The event's id is missing or malformed.",
  invalid_event_type: "The event's type is missing or malformed.",
  invalid_api_version: "The event's api_version is missing or no date.",
  invalid_created_at: "The event's created_at is missing or no time.",
  invalid_merchant: "The event's merchant is missing or malformed.",
  invalid_data: "The event's data is missing, or has no object in it.",
  event_id_mismatch: "Service-Event-Id (or webhook-id) is missing, or is not the event's id.",
};
