// The adapter of Koa, in its versions 2 and 3.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";
import { bodyParser } from "@koa/bodyparser";
import Router from "@koa/router";
import Koa from "koa";
import olderBodyParser from "koa-bodyparser";
import Koa2 from "koa2";
import { toMiddleware, verified } from "verify-wasm/koa";
import { fulfilsTheContract } from "./contract.mjs";
import { deliver, eventText } from "./deliveries.mjs";
import { listening, memory, options, receiverInto, verifier } from "./servers.mjs";

/** An application of the middleware given, whose errors are kept. */
async function serve(t, ...middleware) {
  const errors = [];
  const app = new Koa();
  app.on("error", (error) => errors.push(error));
  for (const one of middleware) app.use(one);
  const server = await listening(createServer(app.callback()), async () => []);
  t.after(() => server.close());
  return { server, errors };
}

for (const [name, Application, parser] of [
  ["Koa 2", Koa2, olderBodyParser],
  ["Koa 3", Koa, bodyParser],
]) {
  fulfilsTheContract(name, (form) => {
    const { take, seen } = memory();
    const app = new Application();
    app.silent = true; // Koa itself logs uploads that break off
    const router = new Router();
    const middleware =
      form === "receiver" ? toMiddleware(receiverInto({ take })) : verified(verifier, (event) => take(event), options);
    router.all("/webhooks", middleware);
    app.use(router.routes());
    app.use(parser()); // for the rest of the application
    return listening(createServer(app.callback()), seen);
  });
}

test("Koa: behind bodyParser() is an error that says what to change", async (t) => {
  const { take, seen } = memory();
  for (const parser of [bodyParser(), bodyParser({ patchNode: true }), olderBodyParser()]) {
    for (const middleware of [toMiddleware(receiverInto({ take })), verified(verifier, take)]) {
      const { server, errors } = await serve(t, parser, middleware);
      const answer = await deliver(server, eventText());
      assert.deepEqual([answer.status, answer.text], [500, "Internal Server Error"]);
      assert.deepEqual(errors.map(({ name, message }) => [name, message]), [
        [
          "RawBodyError",
          "The raw body of a webhook delivery is not available: rawBody is text, which is not what was signed: keep " +
            "the Buffer. Use the webhook middleware (or its router) before bodyParser(), or let the parser pass it by: " +
            "set ctx.disableBodyParser = true for this path in a middleware before bodyParser().",
        ],
      ]);
    }
  }
  assert.deepEqual(await seen(), []);
});

test("Koa: what the error says to change helps", async (t) => {
  const passBy = (ctx, next) => {
    ctx.disableBodyParser = ctx.path === "/webhooks";
    return next();
  };
  const { server } = await serve(t, passBy, bodyParser(), toMiddleware(receiverInto(memory())));
  assert.equal((await deliver(server, `${eventText()}\n`)).code, "ok");
});

test("Koa: what a handler throws goes to the application", async (t) => {
  const { server, errors } = await serve(t, verified(verifier, (event, ctx) => ctx.throw(503, "no stock")));
  assert.equal((await deliver(server, eventText())).status, 503);
  assert.deepEqual(errors.map(({ message }) => message), ["no stock"]);
});

test("Koa: a handler may answer, or leave that to the next", async (t) => {
  for (const status of [204, 404]) {
    const { server } = await serve(t, verified(verifier, (event, ctx) => void (ctx.status = status)));
    assert.equal((await deliver(server, eventText())).status, status);
  }

  const body = await serve(t, verified(verifier, (event, ctx) => void (ctx.body = event.type)));
  assert.equal((await deliver(body.server, eventText())).text, "order.confirmed");

  const passing = verified(verifier, (event, ctx, next) => {
    ctx.state.event = event;
    return next();
  });
  const next = (ctx) => void (ctx.body = ctx.state.event.merchant.id);
  const passed = await deliver((await serve(t, passing, next)).server, eventText());
  assert.deepEqual([passed.status, passed.text], [200, "mer_1"]);
});
