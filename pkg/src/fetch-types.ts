// The web platform's types, as the user's own project knows them. No runtime code.
//
// `Request` is another type in browsers, in Node and in Workers, and in some projects it is not declared at all.
// Naming it would tie this package to one of them; asking what the project's global is does not.

import type { FetchHeaders } from "./types.js";

/** The project's global `Request`, or the part of it that is used here. */
export type FetchRequest = typeof globalThis extends { Request: { prototype: infer Instance } }
  ? Instance
  : PlainRequest;

/** The project's global `Response`, or what can be said of it where none is declared. */
export type FetchResponse = typeof globalThis extends { Response: { prototype: infer Instance } }
  ? Instance
  : PlainResponse;

/** The project's global `AbortSignal`, or the part of it that handlers need. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Instance } }
  ? Instance
  : PlainSignal;

/** What the receiver reads of a request. */
export interface PlainRequest {
  readonly method: string;
  readonly headers: FetchHeaders;
  readonly bodyUsed: boolean;
  readonly body: unknown;
}

/** What can be said of an answer. */
export interface PlainResponse {
  readonly status: number;
  readonly headers: FetchHeaders;
}

/** Says that the time of an attempt is over. */
export interface PlainSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
}
