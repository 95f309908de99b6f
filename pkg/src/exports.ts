// What the package exports in every environment, apart from the constants that need the core to be running.

export type * from "./codes.js";
export { VerificationError } from "./error.js";
export * from "./events.js";
export { createReceiver } from "./create-receiver.js";
export type * from "./records/index.js";
export { sign } from "./sign.js";
export { Verifier } from "./verifier.js";
export type {
  Cause,
  CauseCode,
  CheckResult,
  Envelope,
  ExplainOptions,
  Explanation,
  FetchHeaders,
  HeaderPairs,
  HeaderRecord,
  JsonObject,
  RawBody,
  RequestHeaders,
  SignOptions,
  SignatureProfile,
  SignedHeaders,
  VerifierOptions,
} from "./types.js";
export type { ReceiverAnswer } from "./receiver/answers.js";
export type {
  Claim,
  ClaimRecord,
  ClaimStatus,
  ClaimStore,
  DurableClaimStore,
  FailedAttempt,
  TakeUp,
} from "./stores/claim-store.js";
export type { FetchRequest, FetchResponse } from "./fetch-types.js";
export type { RetrySummary } from "./receiver/claimed-work.js";
export type { ReceivedDelivery, Receiver } from "./receiver.js";
export type { ErrorContext, EventContext, OnFailure, ReceiverOptions, ReceiverSettings, RefusedDelivery } from "./receiver/options.js";
