// The developer's question why a delivery was refused, put to a WebAssembly module of its own.
//
// The module is compiled when somebody asks for the first time (`explainer.ts`), so that whoever never asks pays
// nothing at start. Each question gets an instance of its own, which is dropped with the answer: nothing of a delivery or
// a secret stays behind. `verify-wasm/explain/wasm` says how a question is written: parts with their lengths in front,
// lists with their numbers.

import { type RawContent, byteLength, rawContent, viewOf } from "./delivery.js";
import { type Loader, explainerModule } from "./explainer.js";
import { deliveryHeaders } from "./headers.js";
import { checkOptions } from "./known-options.js";
import { SERVICE } from "./profiles.js";
import { secretTexts } from "./secrets.js";
import type { ExplainOptions, Explanation, RawBody, RequestHeaders } from "./types.js";

/** What the module exports. */
interface Explainer {
  memory: WebAssembly.Memory;
  explain_reserve(length: number): number;
  explain_run(toleranceSeconds: number, now: number, bodyBytes: number, maxBodyBytes: number): number;
  explain_address(): number;
}

const ABSENT = 0xffff_ffff;
const LENGTH_BYTES = 4;
const SECRETS_MAX = 8;
/** Besides the delivery's own, the headers whose values say something about the body. */
const TELLING = ["content-type", "content-length", "content-encoding"];
/** Names to ask for where headers cannot be listed: those of deliveries, and those of other services. */
const KNOWN = [
  ...TELLING,
  "service-event-id",
  "service-timestamp",
  "service-signature",
  "service-version",
  "x-service-event-id",
  "x-service-timestamp",
  "x-service-signature",
  "stripe-signature",
  "webhook-signature",
  "svix-signature",
  "x-hub-signature-256",
  "x-shopify-hmac-sha256",
];

/** What the verifier is configured with, and the entry point's way to the module. */
export interface Trust {
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
  readonly maxBodyBytes: number;
  readonly loader: Loader | undefined;
}

/** Asks the module. `now` is Unix seconds. */
export function explainDelivery(
  body: RawBody,
  headers: RequestHeaders,
  options: ExplainOptions,
  trust: Trust,
  now: number,
): Explanation {
  checkOptions(options, ["otherSecrets"]);
  const { otherSecrets = [] } = options;
  if (!Array.isArray(otherSecrets)) throw new TypeError("otherSecrets must be an array of secrets");
  if (otherSecrets.length > SECRETS_MAX) throw new RangeError("at most 8 secrets can be handed in for comparison");
  const repeatable = listed(headers);
  const { timestamp, signature, eventId } = deliveryHeaders(repeatable, SERVICE.headers);
  const content = rawContent(body);
  const bodyBytes = byteLength(content, trust.maxBodyBytes);
  const question = new Question();
  // Of a body above the bound the length alone is told.
  const told = bodyBytes > trust.maxBodyBytes ? null : content;
  for (const part of [timestamp, signature, eventId, told]) question.part(part);
  question.list(trust.secrets);
  question.list(secretTexts(otherSecrets as readonly string[]));
  question.lines(headerLines(repeatable));
  return JSON.parse(answer(question, trust, now, bodyBytes)) as Explanation;
}

function answer(question: Question, { toleranceSeconds, maxBodyBytes, loader }: Trust, now: number, bodyBytes: number): string {
  const module = explainerModule(loader);
  if (module === undefined) {
    throw new Error('the module behind explain is not here: `import "verify-wasm/explain"` once to have it in a bundle');
  }
  const explainer = new WebAssembly.Instance(module).exports as unknown as Explainer;
  const address = explainer.explain_reserve(question.length);
  if (address === 0) throw new RangeError(`a delivery of ${question.length} bytes is too large to be explained`);
  question.writeTo(new Uint8Array(explainer.memory.buffer, address, question.length));
  const length = explainer.explain_run(toleranceSeconds, now, bodyBytes, maxBodyBytes);
  if (length === 0) throw new RangeError("the delivery cannot be explained");
  return new TextDecoder().decode(new Uint8Array(explainer.memory.buffer, explainer.explain_address(), length));
}

/** What can be iterated once can be read twice as a list. */
function listed(headers: RequestHeaders): RequestHeaders {
  if (typeof headers !== "object" || headers === null || "append" in headers) return headers;
  return Symbol.iterator in headers ? Array.from(headers as Iterable<readonly [string, string]>) : headers;
}

/** The request's header lines as far as they can be listed; values only where they matter. */
function headerLines(headers: RequestHeaders): string[] {
  const lines: string[] = [];
  const add = (name: string, value: unknown) => {
    lines.push(name, TELLING.includes(name.toLowerCase()) && typeof value === "string" ? value : "");
  };
  if (Symbol.iterator in headers) {
    for (const [name, value] of headers as Iterable<readonly [string, string]>) add(name, value);
  } else if (typeof headers["get"] === "function") {
    const get = headers["get"].bind(headers) as (name: string) => string | null;
    for (const name of KNOWN) {
      const value = get(name);
      if (value !== null && value !== undefined) add(name, value);
    }
  } else {
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) add(name, value);
  }
  return lines;
}

/** A question while it is put together. */
class Question {
  readonly #chunks: Uint8Array[] = [];
  /** In bytes. */
  length = 0;

  /** One part; `null` is one that is absent. */
  part(content: RawContent): void {
    if (content === null) return this.#number(ABSENT);
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : viewOf(content);
    this.#number(bytes.byteLength);
    this.#add(bytes);
  }

  /** A number and so many parts. */
  list(parts: readonly string[]): void {
    this.#number(parts.length);
    for (const part of parts) this.part(part);
  }

  /** A number, and so many times a name and a value. */
  lines(namesAndValues: readonly string[]): void {
    this.#number(namesAndValues.length / 2);
    for (const text of namesAndValues) this.part(text);
  }

  writeTo(memory: Uint8Array): void {
    let at = 0;
    for (const chunk of this.#chunks) {
      memory.set(chunk, at);
      at += chunk.byteLength;
    }
  }

  #number(value: number): void {
    const bytes = new Uint8Array(LENGTH_BYTES);
    new DataView(bytes.buffer).setUint32(0, value, true);
    this.#add(bytes);
  }

  #add(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.length += bytes.byteLength;
  }
}
