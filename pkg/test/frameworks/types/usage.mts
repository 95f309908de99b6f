// The adapters as a TypeScript project uses them, against the types of the frameworks themselves. Only compiled.

import { createServer } from "node:http";
import Router from "@koa/router";
import { type MiddlewareConsumer, type NestModule, type RawBodyRequest } from "@nestjs/common";
import { type NestFastifyApplication } from "@nestjs/platform-fastify";
import { type NestExpressApplication } from "@nestjs/platform-express";
import express, { type Request as ExpressRequest, type Response as ExpressResponse } from "express";
import Fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import type { NextApiHandler, NextApiRequest, NextApiResponse } from "next";
import type { NextRequest } from "next/server.js";
import { Verifier, createReceiver, type ClaimStore, type Receiver, type WebhookEvent } from "verify-wasm";
import * as forExpress from "verify-wasm/express";
import * as forFastify from "verify-wasm/fastify";
import * as forHono from "verify-wasm/hono";
import * as forKoa from "verify-wasm/koa";
import * as forNest from "verify-wasm/nest";
import * as forNext from "verify-wasm/next";
import * as forNode from "verify-wasm/node";

declare const store: ClaimStore;
declare function take(event: WebhookEvent): Promise<void>;

const verifier = new Verifier("whsec_of_a_compiled_test");
const receiver = createReceiver({ verifier, store, onEvent: take });

createServer(forNode.toListener(receiver, { onError: (error: unknown) => console.error(error) }));
createServer(forNode.verified(verifier, async (event, request, response) => void response.end(event.type)));

const app = express();
app.post("/webhooks", forExpress.toHandler(receiver));
app.use("/webhooks", forExpress.toHandler(receiver));
app.post("/verified", forExpress.verified(verifier, (event) => take(event)));
app.post(
  "/answered",
  forExpress.verified(verifier, (event, request: ExpressRequest, response: ExpressResponse, next) => {
    if (event.livemode === true) response.status(202).json({ ip: request.ip });
    else next();
  }),
);

const fastify = Fastify({ logger: true });
await fastify.register(forFastify.toPlugin(receiver), { prefix: "/webhooks" });
await fastify.register(
  forFastify.verified(verifier, async (event, request: FastifyRequest, reply: FastifyReply) => {
    request.log.info(event.id);
    return reply.code(202).send();
  }),
  { prefix: "/verified" },
);

const koa = new Koa();
const router = new Router();
router.post("/webhooks", forKoa.toMiddleware(receiver));
router.post(
  "/verified",
  forKoa.verified(verifier, (event, context: Koa.Context) => void (context.body = event.id), { maxBodyBytes: 1000 }),
);
koa.use(forKoa.toMiddleware(receiver));
koa.use(router.routes());

const hono = new Hono<{ Bindings: { SIGNING_SECRET: string }; Variables: { receiver: Receiver } }>();
hono.post("/webhooks", forHono.toHandler(receiver));
hono.post("/of-context", (context) => forHono.toHandler(context.get("receiver"))(context));
hono.post(
  "/verified",
  forHono.verified(
    (context: { env: { SIGNING_SECRET: string } } & forHono.HonoContext) => new Verifier(context.env.SIGNING_SECRET),
    (event) => take(event),
  ),
);
hono.post("/answered", (context) => forHono.verified(verifier, (event) => context.text(event.id))(context));

declare const onExpress: NestExpressApplication;
declare const onFastify: NestFastifyApplication;
onExpress.use("/webhooks", forNest.toMiddleware(receiver));
onFastify.use("/webhooks", forNest.verified(verifier, (event) => take(event)));
export class WebhooksModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    consumer.apply(forNest.toMiddleware(receiver)).forRoutes("webhooks");
  }
  receive(request: RawBodyRequest<ExpressRequest>): WebhookEvent {
    return verifier.verify(forNest.rawBodyOf(request), request.headers);
  }
}

export const POST = forNext.toRouteHandler(receiver);
export const PUT: (request: NextRequest) => Promise<Response> = forNext.verifiedRouteHandler(
  verifier,
  (event, request: NextRequest) => Response.json({ id: event.id, path: request.nextUrl.pathname }),
);
export const api: NextApiHandler = forNext.toApiHandler(receiver);
export const verifiedApi: NextApiHandler = forNext.verifiedApiHandler(
  verifier,
  (event, request: NextApiRequest, response: NextApiResponse) => response.status(202).json({ id: event.id, url: request.url }),
);

// @ts-expect-error a verifier is no receiver
forExpress.toHandler(verifier);
// @ts-expect-error the handler is missing
forKoa.verified(verifier);
// @ts-expect-error a size is a number of bytes
forNode.verified(verifier, take, { maxBodyBytes: "1mb" });
