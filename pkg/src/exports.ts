// What the package exports in every environment, apart from the constants that need the core to be running.

export { VerificationError } from "./error.js";
export { sign } from "./sign.js";
export { Verifier } from "./verifier.js";
export type {
  CheckResult,
  Envelope,
  FetchHeaders,
  HeaderPairs,
  HeaderRecord,
  JsonObject,
  RawBody,
  RequestHeaders,
  SignOptions,
  SignedHeaders,
  VerificationCode,
  VerifierOptions,
  WebhookEvent,
} from "./types.js";
