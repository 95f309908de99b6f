// Fastify 5.
//
// A plugin with one route. Inside the plugin the body stays the bytes that were sent; Fastify keeps that to the plugin,
// so the application's own JSON parser goes on as before. Fastify itself reads the body and bounds it. Errors are
// thrown, that is they go to the application's error handler.

import { refusedHead } from "../receiver/admission.js";
import { ACCEPTED, PAYLOAD_TOO_LARGE, type ReceiverAnswer } from "../receiver/answers.js";
import type { HeaderRecord, WebhookEvent } from "../types.js";
import {
  type DeliveryReceiver,
  type Endpoint,
  type EventVerifier,
  type VerifiedOptions,
  receiverEndpoint,
  verifiedEndpoint,
} from "./endpoint.js";
import { RawBodyError, isUint8Array } from "./raw-body.js";

export { RawBodyError } from "./raw-body.js";
export type { DeliveryReceiver, EventVerifier, VerifiedOptions } from "./endpoint.js";

/** Fastify's request, as far as it is used. */
export interface FastifyRequest {
  readonly method: string;
  readonly headers: HeaderRecord;
  readonly body: unknown;
}

/** Fastify's reply, as far as it is used. */
export interface FastifyReply {
  readonly sent: boolean;
  readonly statusCode: number;
  code(status: number): unknown;
  headers(values: Record<string, string>): unknown;
  send(payload?: unknown): unknown;
}

/** A plugin for `app.register(plugin, { prefix: "/webhooks" })`. */
export type FastifyPlugin = (app: any, options: object) => Promise<void>;

const ADVICE =
  "A hook of the application (preParsing, preValidation or preHandler) has replaced request.body: " +
  "let it pass the webhook's route by.";

/**
 * Makes a plugin of a receiver: `app.register(toPlugin(receiver), { prefix: "/webhooks" })`.
 *
 * @throws {TypeError} `receiver` is not what `createReceiver` returns
 */
export function toPlugin(receiver: DeliveryReceiver): FastifyPlugin {
  return pluginOf(receiverEndpoint(receiver));
}

/**
 * Makes a plugin that only verifies: `handler` gets the event of each valid delivery, every other delivery is answered
 * with its code. What the handler returns or sends is the answer, as always in Fastify; when it does neither, it is
 * the status it has set, by itself 200. Deliveries come at least once: claim `event.id` before any effect.
 *
 * @throws {TypeError} an argument has the wrong type
 * @throws {RangeError} `maxBodyBytes` is not a whole number from 1
 */
export function verified<Request extends FastifyRequest, Reply extends FastifyReply>(
  verifier: EventVerifier,
  handler: (event: WebhookEvent, request: Request, reply: Reply) => unknown,
  options?: VerifiedOptions,
): FastifyPlugin {
  return pluginOf(verifiedEndpoint(verifier, handler, options));
}

function pluginOf<Request extends FastifyRequest, Reply extends FastifyReply>(
  endpoint: Endpoint<[Request, Reply]>,
): FastifyPlugin {
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, keepBytes);
    app.all("/", {
      bodyLimit: endpoint.maxBodyBytes,
      onRequest: async (request: Request, reply: Reply) => {
        const refused = refusedHead(headOf(request));
        if (refused !== null) return answer(reply, refused);
      },
      errorHandler: (error: { code?: unknown }, _request: Request, reply: Reply) => {
        if (error.code !== "FST_ERR_CTP_BODY_TOO_LARGE") throw error;
        answer(reply, PAYLOAD_TOO_LARGE);
      },
      handler: async (request: Request, reply: Reply) => {
        const { method, headers, body } = request;
        if (!isUint8Array(body)) throw new RawBodyError("request.body is no Buffer", ADVICE);
        const delivery = { method, contentType: headOf(request).contentType, body, headers };
        const outcome = await endpoint.settle(delivery, request, reply);
        if ("answer" in outcome) return answer(reply, outcome.answer);
        if (reply.sent || outcome.result !== undefined) return outcome.result;
        return reply.statusCode === ACCEPTED.status ? answer(reply, ACCEPTED) : reply.send();
      },
    });
  };
}

function keepBytes(_request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void): void {
  done(null, body);
}

function headOf({ method, headers }: FastifyRequest) {
  const line = (name: string) => {
    const value = headers[name];
    return typeof value === "string" ? value : null;
  };
  return {
    method,
    contentType: line("content-type"),
    contentEncoding: line("content-encoding"),
  };
}

function answer(reply: FastifyReply, { status, headers, body }: ReceiverAnswer): FastifyReply {
  reply.code(status);
  reply.headers({ ...headers });
  reply.send(JSON.stringify(body));
  return reply;
}
