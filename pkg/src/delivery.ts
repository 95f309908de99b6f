// Writes one delivery into the core's memory and reads its text back.
//
// The three headers and the body lie there one after the other. Each byte is copied once; what is parsed after
// a successful verification is read from that same memory, so it is what was verified, whatever happens to the
// caller's buffer meanwhile.

import { bytes, reserve } from "./core.js";
import { deliveryHeaders } from "./headers.js";
import type { RawBody, RequestHeaders } from "./types.js";

/** Lengths of the parts in bytes, -1 for absent, and where the body begins. */
export interface Delivery {
  timestamp: number;
  signature: number;
  eventId: number;
  body: number;
  bodyAt: number;
}

const ABSENT = -1;
/** A UTF-16 code unit becomes at most three bytes of UTF-8. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

const typedArrayName = getter(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag);
const byteLength = getter(ArrayBuffer.prototype, "byteLength");

const encoder = new TextEncoder();
/** Strict, and hands on a leading byte order mark instead of hiding it. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Copies headers and body into the core's memory. Throws a `TypeError` for a form that cannot be meant. */
export function write(body: RawBody, requestHeaders: RequestHeaders): Delivery {
  const content = rawContent(body);
  const { timestamp, signature, eventId } = deliveryHeaders(requestHeaders);
  const text = (timestamp ?? "") + (signature ?? "") + (eventId ?? "");
  const headersMax = text.length * UTF8_BYTES_PER_UNIT_MAX;
  const at = reserve(headersMax + sizeMax(content));

  if (writeText(text, at, headersMax) === text.length) {
    // All ASCII, as real headers are: lengths in characters are lengths in bytes.
    const bodyAt = at + text.length;
    return {
      timestamp: timestamp?.length ?? ABSENT,
      signature: signature?.length ?? ABSENT,
      eventId: eventId?.length ?? ABSENT,
      body: writeContent(content, bodyAt),
      bodyAt,
    };
  }
  // Each by itself: halves of a surrogate pair at the seams must not become one character.
  let bodyAt = at;
  const writeHeader = (value: string | null) => {
    if (value === null) return ABSENT;
    const length = writeText(value, bodyAt, value.length * UTF8_BYTES_PER_UNIT_MAX);
    bodyAt += length;
    return length;
  };
  const lengths = { timestamp: writeHeader(timestamp), signature: writeHeader(signature), eventId: writeHeader(eventId) };
  return { ...lengths, body: writeContent(content, bodyAt), bodyAt };
}

/** Copies only a timestamp and a body, for signing. */
export function writeForSigning(body: RawBody, timestamp: string): Delivery {
  return write(body, [["service-timestamp", timestamp]]);
}

/** The text of the body that was written last, once the core has found it to be UTF-8. */
export function bodyText(body: RawBody, delivery: Delivery): string {
  // A string that became as many bytes as it has characters is ASCII: it is its own text.
  if (typeof body === "string" && body.length === delivery.body) return body;
  return decode(bodyView(delivery));
}

/** A copy of the body that was written last, which outlives the next delivery. */
export function bodyCopy(delivery: Delivery): Uint8Array {
  return bodyView(delivery).slice();
}

/** Decodes bytes that the core has found to be UTF-8. */
export function decode(text: Uint8Array): string {
  return decoder.decode(text);
}

function bodyView({ bodyAt, body }: Delivery): Uint8Array {
  return bytes().subarray(bodyAt, bodyAt + body);
}

function rawContent(body: RawBody): Uint8Array | string | null {
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

function writeContent(content: Uint8Array | string | null, at: number): number {
  if (content === null) return ABSENT;
  if (typeof content === "string") return writeText(content, at, content.length * UTF8_BYTES_PER_UNIT_MAX);
  bytes().set(content, at);
  return content.byteLength;
}

function writeText(text: string, at: number, sizeMax: number): number {
  return encoder.encodeInto(text, bytes().subarray(at, at + sizeMax)).written;
}

function getter(prototype: object, name: PropertyKey): () => unknown {
  return (Object.getOwnPropertyDescriptor(prototype, name) as { get: () => unknown }).get;
}
