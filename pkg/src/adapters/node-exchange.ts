// One request of Node from beginning to end: take the bytes, ask the endpoint, write its answer.

import { ACCEPTED, type ReceiverAnswer } from "../receiver/answers.js";
import type { Endpoint } from "./endpoint.js";
import { type NodeRequest, takeDelivery } from "./node-request.js";

/** Node's `ServerResponse`, as far as it is used. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  setHeader(name: string, value: string | number): unknown;
  end(content: string): unknown;
}

/**
 * Answers one request.
 *
 * @param advice What to change when the bytes are gone, in the words of the framework.
 * @param context What the application's handler is given beside the event.
 * @returns Whether there was an answer; `false` when the handler ran and left answering to this function's caller.
 * @throws whatever the endpoint throws, and `RawBodyError`
 */
export async function exchange<Context extends unknown[]>(
  endpoint: Endpoint<Context>,
  request: NodeRequest,
  response: NodeResponse,
  advice: string,
  ...context: Context
): Promise<boolean> {
  const taken = await takeDelivery(request, endpoint.maxBodyBytes, advice);
  const outcome = "answer" in taken ? taken : await endpoint.settle(taken.delivery, ...context);
  if ("answer" in outcome) write(response, outcome.answer);
  return "answer" in outcome || response.headersSent || response.writableEnded;
}

/** Ends what a handler has left open: with its status if it has set one, else with 200. */
export function writeOk(response: NodeResponse): void {
  if (response.statusCode === ACCEPTED.status) write(response, ACCEPTED);
  else response.end("");
}

/** Writes an answer. */
export function write(response: NodeResponse, { status, headers, body }: ReceiverAnswer): void {
  const text = JSON.stringify(body);
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  // The code is ASCII.
  response.setHeader("content-length", text.length);
  response.end(text);
}
