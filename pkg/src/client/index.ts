// `verify-wasm/client`: what the client exports.

export type { ClaimStore } from "../stores/claim-store.js";
export type { CatchUpOptions } from "./catch-up.js";
export { Client, Client as MerchantClient } from "./client.js";
export type { EventsClient, OrderFeed, OrdersClient } from "./client.js";
export * from "./error-classes.js";
export { ApiError, ClientError, ConnectionError, ProcessingError, UnexpectedAnswerError } from "./errors.js";
export type { MemberError, Refusal } from "./errors.js";
export type { FollowOptions } from "./follow.js";
export type * from "./operations.js";
export type {
  ClientOptions,
  ConditionalWriteOptions,
  FetchLike,
  FetchedAnswer,
  RequestOptions,
  SentRequest,
  TriedRequest,
  WriteOptions,
} from "./options.js";
export type { OrderFeedOptions } from "./order-feed.js";
export { Pages } from "./pages.js";
export type { Page } from "./pages.js";
export type * from "./records.js";
export type * from "./requests.js";
export type { WebhookEvent } from "../events.js";
export type * from "../records/index.js";
