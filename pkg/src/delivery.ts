// Writes one delivery into the core's memory and reads its text back.
//
// The timestamp stands before the body as in the signed text, the signature and the event id behind it. Each byte is
// copied once; what is parsed after a successful verification is read from that same memory, so it is what was
// verified, whatever happens to the caller's buffer meanwhile.
//
// Nothing is copied that cannot be part of a valid delivery: a body above the bound is refused by its length, and a header
// that is longer than any that is looked at is represented by a short text with the same verdict.

import { BODY_BYTES_MAX } from "./bounds.js";
import { asciiText, bytes, core, places, reserve, utf8Text, writeText } from "./core.js";
import { type DeliveryHeaders, deliveryHeaders } from "./headers.js";
import { type HeaderNames, SERVICE } from "./profiles.js";
import type { RawBody, RequestHeaders } from "./types.js";

/** A body in one of the forms that it may have; `null` when it is absent. */
export type RawContent = Uint8Array | ArrayBuffer | string | null;

/** What a caller has handed in, looked at and not copied. */
export interface Request {
  readonly content: RawContent;
  readonly headers: DeliveryHeaders;
}

/** Lengths of the parts in bytes, -1 for absent. */
export interface Delivery {
  readonly timestamp: number;
  readonly signature: number;
  readonly eventId: number;
  readonly body: number;
}

const ABSENT = -1;
const TIMESTAMP_DIGITS = 10;
const FULL_STOP = 0x2e;
const NO_DIGIT = 0x3f;
/** A UTF-16 code unit becomes at most three bytes of UTF-8. */
const UTF8_BYTES_PER_UNIT_MAX = 3;
/** The longest signature header that is looked at, in bytes (contract 10.6). */
const SIGNATURE_BYTES_MAX = 16_384;
/** A signature of more bytes than that, and an event id that no event has. */
const TOO_LONG = "x".repeat(SIGNATURE_BYTES_MAX + 1);

const getter = (prototype: object, name: PropertyKey) =>
  (Object.getOwnPropertyDescriptor(prototype, name) as { get: () => unknown }).get;
const { set } = Uint8Array.prototype;
const typedArrayName = getter(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag);
const arrayBufferLength = getter(ArrayBuffer.prototype, "byteLength");

/** Looks at what is handed in. Throws a `TypeError` for a form that cannot be meant. Nothing is copied. */
export function requestOf(body: RawBody, headers: RequestHeaders, names: HeaderNames): Request {
  return { content: rawContent(body), headers: deliveryHeaders(headers, names) };
}

/** The number of the code that a body is refused with for its length alone; 0 when it is looked at. */
export function refusedLength({ content }: Request, maxBodyBytes: number): number {
  return core.admit(byteLength(content, maxBodyBytes), maxBodyBytes);
}

/** Copies headers and body into the core's memory. The body is within a bound. */
export function write({ content, headers }: Request): Delivery {
  const { timestamp } = headers;
  const signature = boundedSignature(headers.signature);
  const eventId = headers.eventId !== null && headers.eventId.length >= TOO_LONG.length ? TOO_LONG : headers.eventId;
  reserve(sizeMax(content) + sizeMax(signature) + sizeMax(eventId));
  if (timestamp !== null) writeTimestamp(timestamp);
  const bodyLength = writeContent(content);

  let at = places.body + Math.max(bodyLength, 0);
  const signatureLength = signature === null ? ABSENT : writeText(signature, at);
  at += Math.max(signatureLength, 0);
  const eventIdLength = eventId === null ? ABSENT : writeText(eventId, at);
  return { timestamp: timestamp?.length ?? ABSENT, signature: signatureLength, eventId: eventIdLength, body: bodyLength };
}

/**
 * Copies only a timestamp and a body, for signing.
 *
 * @throws {RangeError} no verifier takes a body of that length
 */
export function writeForSigning(body: RawBody, timestamp: string): Delivery {
  const request = requestOf(body, [["service-timestamp", timestamp]], SERVICE.headers);
  if (refusedLength(request, BODY_BYTES_MAX) !== 0) throw new RangeError(`body has more than ${BODY_BYTES_MAX} bytes`);
  return write(request);
}

/**
 * The text of the body that was written last, once the core has found it to be UTF-8, or even ASCII. `read` reads the
 * latter.
 */
export function bodyText(body: RawContent, length: number, isAscii: boolean, read = asciiText): string {
  if (!isAscii) return utf8Text(places.body, length);
  // A string that is ASCII is its own text.
  return typeof body === "string" ? body : read(places.body, length);
}

/**
 * What a signature header comes down to: itself, or without the blanks around it, or, when that is too long for it to be
 * looked at, a text that is too long as well.
 */
function boundedSignature(signature: string | null): string | null {
  if (signature === null || signature.length <= SIGNATURE_BYTES_MAX) return signature;
  const isBlank = (at: number) => signature.charCodeAt(at) === 0x20 || signature.charCodeAt(at) === 0x09;
  let [start, end] = [0, signature.length];
  while (start < end && isBlank(start)) start += 1;
  while (end > start && isBlank(end - 1)) end -= 1;
  return end - start > SIGNATURE_BYTES_MAX ? TOO_LONG : signature.slice(start, end);
}

/** Only ten characters can be a timestamp: of any other text the core is told the length alone. */
function writeTimestamp(timestamp: string): void {
  if (timestamp.length !== TIMESTAMP_DIGITS) return;
  const memory = bytes();
  const at = places.timestamp;
  for (let index = 0; index < TIMESTAMP_DIGITS; index += 1) {
    const unit = timestamp.charCodeAt(index);
    // What is no byte of ASCII is no digit either.
    memory[at + index] = unit < 0x80 ? unit : NO_DIGIT;
  }
  memory[at + TIMESTAMP_DIGITS] = FULL_STOP;
}

/** The body as bytes or text; `null` when it is absent. Throws a `TypeError` for a form that cannot be meant. */
export function rawContent(body: RawBody): RawContent {
  if (body === null || body === undefined) return null;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  // Values of another realm (a test runner's sandbox, an iframe) are no instances of this realm's classes.
  if (isUint8Array(body)) return body;
  if (isArrayBuffer(body)) return body;
  throw new TypeError(
    "body must be the raw request body (Uint8Array, Buffer, ArrayBuffer or string), not " +
      `${description(body)}: read the body before any JSON parser does, with an adapter of this package, ` +
      "express.raw(), or by collecting the chunks of Node's request up to a bound",
  );
}

/** Asks the object itself what it was made as; what it calls itself (`Symbol.toStringTag`) can be anything. */
function isUint8Array(value: unknown): value is Uint8Array {
  return typedArrayName.call(value) === "Uint8Array";
}

function isArrayBuffer(value: unknown): value is ArrayBuffer {
  try {
    arrayBufferLength.call(value);
    return true;
  } catch {
    return false;
  }
}

function description(body: unknown): string {
  if (typeof body !== "object") return `a ${typeof body}`;
  const name = Object.prototype.toString.call(body).slice("[object ".length, -1);
  return name === "Object" || name === "Array" ? "a parsed object" : `a ${name}`;
}

/** The length in UTF-8, exact where it decides: a text that fits in any case, or in none, is not counted. */
export function byteLength(content: RawContent, max: number): number {
  if (content === null) return 0;
  if (typeof content !== "string") return bytesOf(content);
  const units = content.length;
  return units > max || units * UTF8_BYTES_PER_UNIT_MAX <= max ? units : utf8Length(content);
}

function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // Each half of a surrogate pair is one of its character's two further bytes; half of none becomes U+FFFD.
    const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) at += 1;
    length += unit >= 0x800 ? 2 : 1;
  }
  return length;
}

function sizeMax(content: RawContent): number {
  if (content === null) return 0;
  return typeof content === "string" ? content.length * UTF8_BYTES_PER_UNIT_MAX : bytesOf(content);
}

/** The `length` of an array is the same as its `byteLength`, for which V8 calls a getter. */
function bytesOf(content: Uint8Array | ArrayBuffer): number {
  return ArrayBuffer.isView(content) ? content.length : content.byteLength;
}

function writeContent(content: RawContent): number {
  if (content === null) return ABSENT;
  if (typeof content === "string") return writeText(content, places.body);
  const view = viewOf(content);
  set.call(bytes(), view, places.body);
  return view.length;
}

/** The bytes themselves, not a copy. */
export function viewOf(content: Uint8Array | ArrayBuffer): Uint8Array {
  return ArrayBuffer.isView(content) ? content : new Uint8Array(content);
}
