// The adapter of Fastify.

import assert from "node:assert/strict";
import test from "node:test";
import Fastify from "fastify";
import { toPlugin, verified } from "verify-wasm/fastify";
import { fulfilsTheContract } from "./contract.mjs";
import { deliver, eventText, send } from "./deliveries.mjs";
import { memory, options, receiverInto, verifier } from "./servers.mjs";

/** Starts an application that has the plugin under `/webhooks`. */
async function serve(app, plugin, seen) {
  app.register(plugin, { prefix: "/webhooks" });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const close = () => {
    app.server.closeAllConnections();
    return app.close();
  };
  return { port: app.server.address().port, path: "/webhooks", seen, close };
}

fulfilsTheContract("Fastify 5", (form) => {
  const { take, seen } = memory();
  const plugin =
    form === "receiver" ? toPlugin(receiverInto({ take })) : verified(verifier, (event) => take(event), options);
  return serve(Fastify(), plugin, seen);
});

test("Fastify: the bytes are had whatever parses JSON elsewhere, which goes on", async (t) => {
  const app = Fastify();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, text, done) => done(null, { text }));
  app.post("/other", async (request) => request.body);
  const server = await serve(app, toPlugin(receiverInto(memory())));
  t.after(() => server.close());

  assert.equal((await deliver(server, `${eventText("é")}\r\n`)).code, "ok");
  const other = await send({ ...server, path: "/other" }, { headers: { "Content-Type": "application/json" }, body: "{}" });
  assert.equal(other.text, '{"text":"{}"}');
});

test("Fastify: a body that a hook replaced is an error that says what to change", async (t) => {
  const { take, seen } = memory();
  for (const plugin of [toPlugin(receiverInto({ take })), verified(verifier, take)]) {
    const app = Fastify();
    app.addHook("preHandler", async (request) => void (request.body = JSON.parse(request.body)));
    const server = await serve(app, plugin);
    t.after(() => server.close());
    const answer = await deliver(server, eventText());
    assert.deepEqual([answer.status, answer.code], [500, "raw_body_unavailable"]);
    assert.equal(
      JSON.parse(answer.text).message,
      "The raw body of a webhook delivery is not available: request.body is no Buffer. A hook of the application " +
        "(preParsing, preValidation or preHandler) has replaced request.body: let it pass the webhook's route by.",
    );
  }
  assert.deepEqual(await seen(), []);
});

test("Fastify: what a handler throws goes to the application's error handler", async (t) => {
  const app = Fastify();
  const errors = [];
  app.setErrorHandler((error, request, reply) => {
    errors.push(error.message);
    reply.code(503).send({ handled: true });
  });
  const failing = verified(verifier, () => Promise.reject(new Error("no stock")));
  const server = await serve(app, failing);
  t.after(() => server.close());
  const answer = await deliver(server, eventText());
  assert.deepEqual([answer.status, answer.text, errors], [503, '{"handled":true}', ["no stock"]]);
});

test("Fastify: a handler may return or send the answer", async (t) => {
  for (const handler of [
    async (event, request, reply) => {
      reply.code(202);
      return { type: event.type };
    },
    (event, request, reply) => reply.code(202).send({ type: event.type }),
    async (event, request, reply) => void reply.code(202).send({ type: event.type }),
  ]) {
    const server = await serve(Fastify(), verified(verifier, handler));
    t.after(() => server.close());
    const answer = await deliver(server, eventText());
    assert.deepEqual([answer.status, answer.text], [202, '{"type":"order.confirmed"}']);
  }
  const server = await serve(Fastify(), verified(verifier, async (event, request, reply) => void reply.code(204)));
  t.after(() => server.close());
  assert.equal((await deliver(server, eventText())).status, 204);
});
