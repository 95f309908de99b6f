// Takes the signing secrets as a receiver's configuration has them, and keeps what the core has made of them.
//
// For verification a secret's text is not kept. What is kept, the two states in which every digest begins and ends and
// the pad that comes before the message, is as secret; it never leaves this package's private fields and the core's
// memory. (`Verifier` also keeps the texts, in a private field, because `explain` looks at how they are written.)

import { bytes, core, generation, places, writeText } from "./core.js";
import type { Profile } from "./profiles.js";

/** The most characters of a usable secret; whatever is longer is not even copied. */
const TEXT_MAX = 512;
const STATES_BYTES = 64;
const PAD_BYTES = 64;

/** A list of secrets, prepared. With one that is unusable among them, or without any, there are none. */
export interface PreparedSecrets {
  /** How many secrets there are to verify with; 0 is answered with `invalid_secret`. */
  readonly count: number;
  /** The states of all, one after the other. */
  readonly states: Uint8Array;
  /** The pad of each. */
  readonly pads: readonly Uint8Array[];
}

/**
 * The texts of a configured secret or list of secrets. A missing one (an environment variable that is not set) is an
 * empty text, which no rule accepts.
 *
 * @throws {TypeError} a secret is no string
 */
export function secretTexts(secret: string | readonly string[]): string[] {
  const list: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  return Array.from(list, (text) => {
    if (text === undefined || text === null) return "";
    if (typeof text !== "string") throw new TypeError("a signing secret must be a string");
    return text;
  });
}

/** Has the core prepare the secrets. Which of them are usable is the core's matter. */
export function prepareSecrets(texts: readonly string[], profile: Profile): PreparedSecrets {
  const states = new Uint8Array(texts.length * STATES_BYTES);
  const pads: Uint8Array[] = [];
  for (const [index, text] of texts.entries()) {
    const { exchange } = places;
    let length = text.length;
    if (length <= TEXT_MAX) length = writeText(text, exchange);
    if (core.prepare(length, profile.number) === 0) return { count: 0, states: new Uint8Array(0), pads: [] };
    const prepared = bytes();
    states.set(prepared.subarray(exchange, exchange + STATES_BYTES), index * STATES_BYTES);
    pads.push(prepared.slice(exchange + STATES_BYTES, exchange + STATES_BYTES + PAD_BYTES));
    prepared.fill(0, exchange, exchange + STATES_BYTES + PAD_BYTES);
  }
  return { count: texts.length, states, pads };
}

let warned = false;

/**
 * Says on the console, once in a process, that a verifier was made which will refuse everything. It is no exception: a
 * receiver that is wrongly configured answers, and logs a code (contract 17).
 */
export function warnUnlessUsable({ count }: PreparedSecrets, texts: readonly string[], profile: Profile): void {
  if (count > 0 || warned) return;
  warned = true;
  const isMissing = texts.length === 0 || texts.includes("");
  const problem = isMissing
    ? "no signing secret is set (an environment variable under another name, perhaps)"
    : `a signing secret cannot be used: expected are ${profile.secretForm}`;
  console.warn(`verify-wasm: ${problem}. Every delivery will be refused with invalid_secret (503).`);
}

let present: PreparedSecrets | undefined;
/** The number of the instance that has them. */
let presentIn = 0;

/** Puts the states where the core looks for them, unless they are there, and the pad of a single secret with them. */
export function putInPlace(secrets: PreparedSecrets): void {
  if (present === secrets && presentIn === generation) return;
  const memory = bytes();
  memory.set(secrets.states, places.states);
  for (const pad of secrets.pads) memory.set(pad, places.pad);
  present = secrets;
  presentIn = generation;
}
