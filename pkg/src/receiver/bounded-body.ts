// Reads the body of a Fetch request once, and never more of it than the receiver is willing to hold.

import type { FetchRequest } from "../fetch-types.js";

/** The bound when none is given, bytes. Events are at most 256 KiB (contract 5.6). */
export const BODY_BYTES_DEFAULT = 1 << 20;

/** The body is longer than the bound. Not an error: it has an answer of its own. */
export const TOO_LARGE = Symbol("too large");

/**
 * The body's bytes; `null` when there is none, or when it broke off, because then nobody is left to read the answer.
 * Beyond `maxBytes` the stream is cancelled.
 *
 * @throws {TypeError} somebody has read the body already
 */
export async function readBody(request: FetchRequest, maxBytes: number): Promise<Uint8Array | null | typeof TOO_LARGE> {
  if (request.bodyUsed) {
    throw new TypeError(
      "the request's body was read before it came to the receiver (request.json(), request.text(), a body parser): " +
        "hand the request over untouched, or hand over request.clone() before it is read",
    );
  }
  const stream = request.body as ReadableStream<Uint8Array> | null;
  if (stream === null) return null;
  if (declaredLength(request) > maxBytes) {
    await stream.cancel().catch(() => undefined); // what comes of the rest is of no interest
    return TOO_LARGE;
  }
  return collect(stream, maxBytes);
}

async function collect(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | null | typeof TOO_LARGE> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes) {
        reader.cancel().catch(() => undefined); // likewise; and nobody waits for it
        return TOO_LARGE;
      }
      chunks.push(value);
    }
  } catch {
    return null;
  }
  return joined(chunks, size);
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const body = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}

/** What `Content-Length` announces; 0 when it says nothing. The bytes themselves are counted in any case. */
function declaredLength({ headers }: FetchRequest): number {
  const value = headers.get("content-length");
  return value !== null && /^[0-9]+$/.test(value) ? Number(value) : 0;
}
