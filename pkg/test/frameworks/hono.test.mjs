// The adapter of Hono, on Node's server.

import assert from "node:assert/strict";
import test from "node:test";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { Verifier } from "verify-wasm";
import { toHandler, verified } from "verify-wasm/hono";
import { fulfilsTheContract } from "./contract.mjs";
import { SECRET, deliver, eventText } from "./deliveries.mjs";
import { listening, memory, options, receiverInto, verifier } from "./servers.mjs";

/** An application with middleware before the webhook's route; errors are kept. */
async function serve(t, handler, ...middleware) {
  const errors = [];
  const app = new Hono();
  for (const one of middleware) app.use(one);
  app.post("/webhooks", handler);
  app.onError((error, c) => {
    errors.push(error);
    return c.json({ handled: true }, error.status ?? 500);
  });
  const server = await listening(createAdaptorServer(app), async () => []);
  t.after(() => server.close());
  return { server, errors };
}

fulfilsTheContract("Hono", (form) => {
  const { take, seen } = memory();
  const app = new Hono();
  const handler =
    form === "receiver" ? toHandler(receiverInto({ take })) : verified(verifier, (event) => take(event), options);
  app.all("/webhooks", handler);
  return listening(createAdaptorServer(app), seen);
});

test("Hono: behind c.req.json() or c.req.text() is an error that says what to change", async (t) => {
  const { take, seen } = memory();
  for (const read of ["json", "text"]) {
    for (const handler of [toHandler(receiverInto({ take })), verified(verifier, take)]) {
      const { server, errors } = await serve(t, handler, async (c, next) => {
        await c.req[read]();
        await next();
      });
      const answer = await deliver(server, eventText());
      assert.deepEqual([answer.status, answer.text], [500, '{"handled":true}'], read);
      assert.deepEqual(errors.map(({ name, message }) => [name, message]), [
        [
          "RawBodyError",
          "The raw body of a webhook delivery is not available: something read the request's body before this handler. " +
            "Register the webhook route before middleware that calls c.req.json() or c.req.text(), " +
            "or let that middleware call c.req.arrayBuffer() first: Hono then keeps the bytes.",
        ],
      ]);
    }
  }
  assert.deepEqual(await seen(), []);
});

test("Hono: bytes that Hono keeps are used, and bounded", async (t) => {
  for (const form of ["arrayBuffer", "bytes"]) {
    const keep = async (c, next) => {
      await c.req[form]();
      await c.req.json();
      await next();
    };
    const { server } = await serve(t, toHandler(receiverInto(memory())), keep);
    assert.equal((await deliver(server, `${eventText("é")}\r\n`)).code, "ok");
    const small = await serve(t, verified(verifier, () => {}, { maxBodyBytes: 100 }), keep);
    const answer = await deliver(small.server, eventText());
    assert.deepEqual([answer.status, answer.code], [413, "payload_too_large"]);
  }
});

test("Hono: middleware that replaces the request's stream is no hindrance", async (t) => {
  const { server } = await serve(t, toHandler(receiverInto(memory())), bodyLimit({ maxSize: 100_000 }));
  assert.equal((await deliver(server, `${eventText("é")}\r\n`)).code, "ok");
});

test("Hono: receiver and verifier may come from the context", async (t) => {
  const environment = async (c, next) => {
    c.set("secret", SECRET);
    await next();
  };
  const receiver = receiverInto(memory());
  for (const handler of [
    toHandler((c) => (c.get("secret") === SECRET ? receiver : undefined)),
    verified(async (c) => new Verifier(c.get("secret")), () => {}),
  ]) {
    const { server } = await serve(t, handler, environment);
    assert.equal((await deliver(server, eventText())).code, "ok");
  }
  const { server, errors } = await serve(t, toHandler(() => undefined));
  assert.equal((await deliver(server, eventText())).status, 500);
  assert.match(String(errors[0]), /^TypeError: receiver must be what createReceiver returns/);
});

test("Hono: what a handler throws goes to onError, what it returns is the response", async (t) => {
  const failing = await serve(t, verified(verifier, () => Promise.reject(new Error("no stock"))));
  assert.equal((await deliver(failing.server, eventText())).status, 500);
  assert.deepEqual(failing.errors.map(({ message }) => message), ["no stock"]);

  const own = await serve(t, verified(verifier, (event, c) => c.text(event.type, 202)));
  const answer = await deliver(own.server, eventText());
  assert.deepEqual([answer.status, answer.text], [202, "order.confirmed"]);
});
