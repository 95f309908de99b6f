// Writes one delivery into the core's memory and reads its text back.
//
// The timestamp stands before the body as in the signed text, the signature and the event id behind it. Each byte is
// copied once; what is parsed after a successful verification is read from that same memory, so it is what was
// verified, whatever happens to the caller's buffer meanwhile.

import { asciiText, bytes, places, reserve, utf8Text, writeText } from "./core.js";
import { deliveryHeaders } from "./headers.js";
import type { RawBody, RequestHeaders } from "./types.js";

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

const typedArrayName = getter(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag);
const byteLength = getter(ArrayBuffer.prototype, "byteLength");

/** Copies headers and body into the core's memory. Throws a `TypeError` for a form that cannot be meant. */
export function write(body: RawBody, requestHeaders: RequestHeaders): Delivery {
  const content = rawContent(body);
  const { timestamp, signature, eventId } = deliveryHeaders(requestHeaders);
  const text = (signature ?? "") + (eventId ?? "");
  reserve(sizeMax(content) + text.length * UTF8_BYTES_PER_UNIT_MAX);
  if (timestamp !== null) writeTimestamp(timestamp);
  const bodyLength = writeContent(content);

  let at = places.body + Math.max(bodyLength, 0);
  if (writeText(text, at) === text.length) {
    // All ASCII, as real headers are: lengths in characters are lengths in bytes.
    return {
      timestamp: timestamp?.length ?? ABSENT,
      signature: signature?.length ?? ABSENT,
      eventId: eventId?.length ?? ABSENT,
      body: bodyLength,
    };
  }
  // Each by itself: halves of a surrogate pair at the seam must not become one character.
  const signatureLength = signature === null ? ABSENT : writeText(signature, at);
  at += Math.max(signatureLength, 0);
  const eventIdLength = eventId === null ? ABSENT : writeText(eventId, at);
  return { timestamp: timestamp?.length ?? ABSENT, signature: signatureLength, eventId: eventIdLength, body: bodyLength };
}

/** Copies only a timestamp and a body, for signing. */
export function writeForSigning(body: RawBody, timestamp: string): Delivery {
  return write(body, [["service-timestamp", timestamp]]);
}

/** The text of the body that was written last, once the core has found it to be UTF-8, or even ASCII. */
export function bodyText(body: RawBody, length: number, isAscii: boolean): string {
  if (!isAscii) return utf8Text(places.body, length);
  // A string that is ASCII is its own text.
  return typeof body === "string" ? body : asciiText(places.body, length);
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
export function rawContent(body: RawBody): Uint8Array | string | null {
  if (body === null || body === undefined) return null;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  // Values of another realm (a test runner's sandbox, an iframe) are no instances of this realm's classes.
  if (isUint8Array(body)) return body;
  if (isArrayBuffer(body)) return new Uint8Array(body);
  throw new TypeError(
    "body must be the raw request body (Uint8Array, Buffer, ArrayBuffer or string), not " +
      `${description(body)}: read the body before any JSON parser does, for example with express.raw(), ` +
      "request.arrayBuffer(), or by collecting the chunks of Node's request",
  );
}

/** Asks the object itself what it was made as; what it calls itself (`Symbol.toStringTag`) can be anything. */
function isUint8Array(value: unknown): value is Uint8Array {
  return typedArrayName.call(value) === "Uint8Array";
}

function isArrayBuffer(value: unknown): value is ArrayBuffer {
  try {
    byteLength.call(value);
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

function sizeMax(content: Uint8Array | string | null): number {
  if (content === null) return 0;
  return typeof content === "string" ? content.length * UTF8_BYTES_PER_UNIT_MAX : content.byteLength;
}

function writeContent(content: Uint8Array | string | null): number {
  if (content === null) return ABSENT;
  if (typeof content === "string") return writeText(content, places.body);
  bytes().set(content, places.body);
  return content.byteLength;
}

function getter(prototype: object, name: PropertyKey): () => unknown {
  return (Object.getOwnPropertyDescriptor(prototype, name) as { get: () => unknown }).get;
}
