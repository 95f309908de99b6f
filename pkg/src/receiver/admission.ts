// What a receiver decides about a request before its body is read (contract 11.1).

import {
  METHOD_NOT_ALLOWED,
  type ReceiverAnswer,
  UNSUPPORTED_CONTENT_ENCODING,
  UNSUPPORTED_MEDIA_TYPE,
} from "./answers.js";

/** The lines of a head that decide; `null` for one that is absent. */
export interface Head {
  /** In upper case. */
  readonly method: string | undefined;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
}

/** The answer to a request whose head says that its body is of no interest; `null` when it is let in. */
export function refusedHead({ method, contentType, contentEncoding }: Head): ReceiverAnswer | null {
  if (method !== "POST") return METHOD_NOT_ALLOWED;
  // RFC 9110 8.3.1: any letter case, any parameters.
  const [essence = ""] = (contentType ?? "").split(";", 1);
  if (essence.trim().toLowerCase() !== "application/json") return UNSUPPORTED_MEDIA_TYPE;
  const encoding = (contentEncoding ?? "").trim().toLowerCase();
  if (encoding !== "" && encoding !== "identity") return UNSUPPORTED_CONTENT_ENCODING;
  return null;
}
