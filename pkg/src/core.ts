// The WebAssembly core: one instance per copy of this package, and the memory a delivery is written into.
//
// An entry point (`index.ts`, `workerd.ts`) gets hold of the compiled module in its environment's way and calls
// `start`, once, while it is imported. Everything else asks here. The module imports nothing, takes and gives
// numbers only, and keeps nothing from one call to the next (`verify-wasm/src/lib.rs` says what lies where).
//
// A WebAssembly memory never shrinks. So an instance that a large delivery has made large is replaced by a new one
// (`shrink`), and so is one that an exception may have left in the middle of a call (`abandon`): no delivery has an effect
// on the next. Addresses are the same in every instance, contents are not.

import type { VerificationCode } from "./types.js";

/** What the module exports. Lengths are in bytes, -1 for absent. */
interface CoreExports {
  memory: WebAssembly.Memory;
  place(number: number): number;
  reserve(length: number): number;
  facts(): number;
  status(number: number): number;
  configure(secretCount: number, toleranceSeconds: number, maxBodyBytes: number): number;
  admit(bodyBytes: number, maxBodyBytes: number): number;
  prepare(length: number, profile: number): number;
  sign(body: number): number;
  verify(
    timestamp: number,
    signature: number,
    eventId: number,
    body: number,
    secretCount: number,
    toleranceSeconds: number,
    now: number,
    mode: number,
  ): number;
}

/** Modes of `core.verify`, to be added up. */
export const HEADERS_ONLY = 1;
export const DIGESTS_GIVEN = 2;
export const FIELDS_WANTED = 4;
export const BESIDE_PARSER = 8;
export const STANDARD_WEBHOOKS = 16;

/** What `core.verify` answers for a valid delivery; anything else is the number of a code. */
export const VALID = 0;
export const VALID_ASCII = 256;

/** The addresses of what lies at a fixed place, each as long as the core says. */
export interface Places {
  readonly states: number;
  readonly digests: number;
  readonly exchange: number;
  readonly numbers: number;
  readonly pad: number;
  readonly timestamp: number;
  readonly body: number;
}

/** A code and the HTTP status a receiver answers it with (contract 11.1). */
export interface CodeEntry {
  readonly code: VerificationCode;
  readonly status: number;
}

/** What Node's `Buffer` has beyond a `Uint8Array`: it reads and writes texts in memory without a view of each. */
interface NodeBuffer {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
  utf8Write(text: string, at: number, length: number): number;
}
declare const Buffer: { from(memory: ArrayBuffer): Partial<NodeBuffer> } | undefined;

/** How many numbers the core leaves. */
const NUMBERS = 8;
/** What an instance's memory may have grown to and still be kept: more than any delivery of the service needs. */
const KEPT_BYTES = 4 << 20;
/** What V8 still allocates beside other objects. A longer text gets pages of its own, which takes ten times as long. */
const PART_BYTES = 64 << 10;
/** The most bytes that may be written at once: lengths are signed 32-bit integers in Node's own functions. */
const WRITTEN_BYTES_MAX = 0x7fff_ffff;

/** What the core can be asked, and where it takes and puts things; set by `start`. */
export let core: CoreExports;
export let places: Places;
let module: WebAssembly.Module;
/** Counts the instances. Whoever has put something into one keeps its number, not the instance: that would keep its memory. */
export let generation = 0;
/** Where the core leaves numbers, as they are in its memory. */
export let numbers = new Float64Array(0);
let view = new Uint8Array(0);
/** The same memory as `view`, where there is such a thing. */
let buffer: NodeBuffer | undefined;
let facts: string[];

/** Made when they are needed, which they are not beside a `Buffer`. */
let encoder: TextEncoder | undefined;
let decoder: TextDecoder | undefined;

/** Instantiates the core. Synchronous, so that a verifier works from the first line after the import. */
export function start(compiled: WebAssembly.Module): void {
  module = compiled;
  replace();
  places = {
    states: core.place(0),
    digests: core.place(1),
    exchange: core.place(2),
    numbers: core.place(3),
    pad: core.place(4),
    timestamp: core.place(5),
    body: core.place(6),
  };
  facts = asciiText(places.exchange, core.facts()).split("\n");
}

function replace(): void {
  core = new WebAssembly.Instance(module).exports as unknown as CoreExports;
  generation += 1;
  view = new Uint8Array(0);
  numbers = new Float64Array(0);
  buffer = undefined;
  reserve(0);
}

/** Gives back the memory that a large delivery has taken; to be called when its verdict is known and its text is read. */
export function shrink(): void {
  if (bytes().length > KEPT_BYTES) abandon();
}

/** Gives this instance up, unless there is no memory for another: then the next large delivery tries again. */
export function abandon(): void {
  try {
    replace();
  } catch {
    // The instance still works as it is.
  }
}

/**
 * Makes room for body, signature and event id of up to `length` bytes in all.
 *
 * @throws {RangeError} there is not so much memory; the next, smaller delivery is not affected
 */
export function reserve(length: number): void {
  if (core.reserve(length) === 0) throw new RangeError(`there is no memory for a delivery of ${length} bytes`);
}

/** The core's memory. Ask again after every call into the core: the array is detached when the memory grows. */
export function bytes(): Uint8Array<ArrayBuffer> {
  // Not `byteLength`, for which V8 calls a getter.
  if (view.length === 0) renewViews();
  return view;
}

function renewViews(): void {
  view = new Uint8Array(core.memory.buffer as ArrayBuffer);
  numbers = new Float64Array(view.buffer, places.numbers, NUMBERS);
  buffer = asNodeBuffer(view.buffer);
}

function asNodeBuffer(memory: ArrayBuffer): NodeBuffer | undefined {
  if (typeof Buffer === "undefined") return undefined;
  const candidate = Buffer.from(memory);
  const { latin1Slice, utf8Slice, utf8Write } = candidate;
  if (!latin1Slice || !utf8Slice || !utf8Write) return undefined;
  // As its own they are found at once; those of a prototype V8 looks up at each call.
  return Object.assign(candidate, { latin1Slice, utf8Slice, utf8Write });
}

/** Reads a text that consists of ASCII. */
export function asciiText(at: number, length: number): string {
  const memory = bytes();
  return buffer !== undefined ? buffer.latin1Slice(at, at + length) : decoded(memory.subarray(at, at + length));
}

/** The same for a text that may never be looked at: a long one is put together of parts when it is. */
export function asciiTextInParts(at: number, length: number): string {
  let text = "";
  for (let read = 0; read < length; read += PART_BYTES) text += asciiText(at + read, Math.min(PART_BYTES, length - read));
  return text;
}

/** Reads a text that the core has found to be UTF-8. */
export function utf8Text(at: number, length: number): string {
  const memory = bytes();
  return buffer !== undefined ? buffer.utf8Slice(at, at + length) : decoded(memory.subarray(at, at + length));
}

/** Strict, and hands on a leading byte order mark instead of hiding it. */
function decoded(text: Uint8Array): string {
  decoder ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return decoder.decode(text);
}

/** Writes a text as UTF-8 where there is room for it, and returns how many bytes it took. */
export function writeText(text: string, at: number): number {
  const memory = bytes();
  // Workers with Node's compatibility want the length said, though it is all there is; Node writes nothing when it is
  // beyond the integers that it calculates with.
  if (buffer !== undefined) return buffer.utf8Write(text, at, Math.min(memory.length - at, WRITTEN_BYTES_MAX));
  encoder ??= new TextEncoder();
  return encoder.encodeInto(text, memory.subarray(at)).written;
}

/** The version of the SDK contract. */
export function contractVersion(): string {
  return facts[0] as string;
}

/** The API version that the authority stamps on events today. */
export function apiVersion(): string {
  return facts[1] as string;
}

/** The code that the core knows by this number, from 1 on in order of precedence (contract 10.2). */
export function codeEntry(number: number): CodeEntry {
  const status = core.status(number);
  if (status === 0) throw new RangeError(`the core answered ${number}`);
  return { code: facts[number + 1] as VerificationCode, status };
}

/** The HTTP status of a code by its name; `undefined` when it is none. */
export function codeStatus(code: string): number | undefined {
  const line = facts.indexOf(code, 2);
  return line < 0 || code === "" ? undefined : core.status(line - 1);
}
