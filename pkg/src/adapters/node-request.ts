// Takes the raw body of a request as Node has it: Express, Koa, NestJS, Next.js API routes and `node:http` itself.
//
// Whoever had the request before may have left it in one of three states. The bytes are kept somewhere (`rawBody`, or a
// `body` that is a Buffer): they are taken. The stream is untouched: it is read here, to a bound. Or the stream was
// consumed and the bytes are gone: that is an error which says what to change, never a verdict, and never a wait for
// data that does not come. Text that some parser decoded is not taken for the bytes: decoding drops a byte order mark
// and replaces what is not UTF-8.

import { refusedHead } from "../receiver/admission.js";
import { PAYLOAD_TOO_LARGE, type ReceiverAnswer } from "../receiver/answers.js";
import { TOO_LARGE } from "../receiver/bounded-body.js";
import type { HeaderRecord } from "../types.js";
import type { Delivery } from "./endpoint.js";
import { RawBodyError, isUint8Array } from "./raw-body.js";

/** Node's `IncomingMessage`, as far as it is used, and what body parsers put on it. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: HeaderRecord;
  readonly readableDidRead?: boolean;
  readonly readableEnded?: boolean;
  readonly destroyed?: boolean;
  on(event: string, listener: (...values: any[]) => void): unknown;
  off(event: string, listener: (...values: any[]) => void): unknown;
  resume(): unknown;
  destroy(): unknown;
  /** What a body parser made of the body. */
  readonly body?: unknown;
  /** The bytes, where a parser or a platform keeps them. */
  readonly rawBody?: unknown;
}

/** The delivery, or the answer to give without one. */
export type Taken = { readonly delivery: Delivery } | { readonly answer: ReceiverAnswer };

/** What is left of a refused upload is read and dropped, so that the client gets to read the answer; up to here. */
const DISCARDED_BYTES_MAX = 4 << 20;

/**
 * Reads one delivery.
 *
 * @param kept Where this framework's parsers put things, beside the request itself.
 * @param advice What to change when the bytes are gone, in the words of the framework.
 * @throws {RawBodyError} the bytes are gone
 */
export async function takeDelivery(
  request: NodeRequest,
  maxBodyBytes: number,
  advice: string,
  kept: Pick<NodeRequest, "body" | "rawBody"> = request,
): Promise<Taken> {
  const contentType = header(request, "content-type");
  const contentEncoding = header(request, "content-encoding");
  const refused = refusedHead({ method: request.method, contentType, contentEncoding });
  const body = refused === null ? await rawBody(request, maxBodyBytes, advice, kept) : TOO_LARGE;
  if (body === TOO_LARGE) {
    discard(request);
    return { answer: refused ?? PAYLOAD_TOO_LARGE };
  }
  return { delivery: { method: "POST", contentType, body, headers: request.headers } };
}

async function rawBody(
  request: NodeRequest,
  max: number,
  advice: string,
  kept: Pick<NodeRequest, "body" | "rawBody">,
): Promise<Uint8Array | null | typeof TOO_LARGE> {
  for (const bytes of [kept.rawBody, request.rawBody, kept.body, request.body]) {
    if (isUint8Array(bytes)) return bytes.byteLength > max ? TOO_LARGE : bytes;
  }
  const declared = Number(header(request, "content-length") ?? NaN);
  if (declared > max) return TOO_LARGE;
  if (declared === 0) return new Uint8Array(0);
  if (request.readableDidRead === true) throw new RawBodyError(instead(kept), advice);
  if (request.readableEnded === true) return new Uint8Array(0);
  if (request.destroyed === true) return null;
  return read(request, max, advice);
}

/** Collects the stream. A body that breaks off counts as missing: there is nobody left to read the answer. */
function read(request: NodeRequest, max: number, advice: string): Promise<Uint8Array | null | typeof TOO_LARGE> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const settle = (settled: () => void) => {
      request.off("data", take);
      request.off("end", end);
      request.off("close", breakOff);
      settled();
    };
    const take = (chunk: Uint8Array | string) => {
      if (typeof chunk === "string") {
        settle(() => reject(new RawBodyError("request.setEncoding() turned its bytes into text", advice)));
        discard(request);
        return;
      }
      length += chunk.byteLength;
      if (length > max) settle(() => resolve(TOO_LARGE));
      else chunks.push(chunk);
    };
    const end = () => settle(() => resolve(joined(chunks, length)));
    const breakOff = () => settle(() => resolve(null));
    request.on("data", take);
    request.on("end", end);
    request.on("close", breakOff);
    // Stays: an upload that breaks off later, too, must not end the process.
    request.on("error", breakOff);
  });
}

/** Lets the rest of the upload pass, and ends the connection of a client that goes on for too long. */
function discard(request: NodeRequest): void {
  if (request.readableEnded === true || request.destroyed === true) return;
  let length = 0;
  request.on("error", () => {});
  request.on("data", (chunk: Uint8Array | string) => {
    length += chunk.length;
    if (length > DISCARDED_BYTES_MAX) request.destroy();
  });
  request.resume();
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

function instead({ body, rawBody }: Pick<NodeRequest, "body" | "rawBody">): string {
  if (typeof rawBody === "string") return "rawBody is text, which is not what was signed: keep the Buffer";
  if (typeof body === "string") return "a body parser read it as text before this handler";
  if (body !== undefined) return "a body parser read and parsed it before this handler";
  return "something read the request before this handler";
}

function header(request: NodeRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === "string" ? value : (value?.join(", ") ?? null);
}
