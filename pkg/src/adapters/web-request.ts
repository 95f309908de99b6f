// One request of the Fetch standard from beginning to end: Hono, Next.js route handlers.
//
// A `Request` can be read once. Whoever read it before has the bytes, perhaps decoded; the framework's own cache of
// them is looked at by the adapter, which hands them over as `kept`. Without it a body that was read is an error which
// says what to change.

import { refusedHead } from "../receiver/admission.js";
import { ACCEPTED, PAYLOAD_TOO_LARGE, type ReceiverAnswer } from "../receiver/answers.js";
import { TOO_LARGE, readBody } from "../receiver/bounded-body.js";
import type { FetchRequest } from "../fetch-types.js";
import type { Endpoint } from "./endpoint.js";
import { RawBodyError } from "./raw-body.js";

/** What an adapter knows about one request beside the request itself. */
export interface Circumstances {
  /** What to change when the bytes are gone, in the words of the framework. */
  readonly advice: string;
  /** The bytes, where the framework has kept them. */
  readonly kept?: Uint8Array | undefined;
}

/**
 * Answers one request.
 *
 * @param context What the application's handler is given beside the event.
 * @throws whatever the endpoint throws, and `RawBodyError`
 */
export async function respond<Context extends unknown[]>(
  endpoint: Endpoint<Context>,
  request: FetchRequest,
  circumstances: Circumstances,
  ...context: Context
): Promise<Response> {
  const header = (name: string) => request.headers.get(name);
  const contentType = header("content-type");
  const refused = refusedHead({ method: request.method, contentType, contentEncoding: header("content-encoding") });
  if (refused !== null) return response(refused);
  const body = await rawBody(request, endpoint.maxBodyBytes, circumstances);
  if (body === TOO_LARGE) return response(PAYLOAD_TOO_LARGE);
  const delivery = { method: request.method, contentType, body, headers: request.headers };
  const outcome = await endpoint.settle(delivery, ...context);
  if ("answer" in outcome) return response(outcome.answer);
  return isResponse(outcome.result) ? outcome.result : response(ACCEPTED);
}

async function rawBody(
  request: FetchRequest,
  max: number,
  { advice, kept }: Circumstances,
): Promise<Uint8Array | null | typeof TOO_LARGE> {
  if (kept !== undefined) return kept.byteLength > max ? TOO_LARGE : kept;
  if (request.bodyUsed) throw new RawBodyError("something read the request's body before this handler", advice);
  return readBody(request, max);
}

/** By its form: frameworks and runtimes bring classes of their own. */
function isResponse(result: unknown): result is Response {
  const { status, headers } = (result ?? {}) as Partial<Response>;
  return typeof status === "number" && typeof headers?.get === "function";
}

function response({ status, headers, body }: ReceiverAnswer): Response {
  return new Response(JSON.stringify(body), { status, headers });
}
