// The adapter of Express, in both of its versions.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import test from "node:test";
import express5 from "express";
import express4 from "express4";
import { toHandler, verified } from "verify-wasm/express";
import { fulfilsTheContract } from "./contract.mjs";
import { deliver, eventText } from "./deliveries.mjs";
import { listening, memory, options, receiverInto, verifier } from "./servers.mjs";

const commonJs = createRequire(import.meta.url);

for (const [name, express] of [
  ["Express 4", express4],
  ["Express 5", express5],
]) {
  /** An application with the parts given, and an error handler at its end that remembers. */
  async function serve(t, ...parts) {
    const errors = [];
    const app = express();
    for (const part of parts) app.use(...part);
    app.use((error, request, response, next) => {
      errors.push(error);
      response.status(error.status ?? 500).json({ handled: true });
    });
    const server = await listening(createServer(app), async () => []);
    t.after(() => server.close());
    return { server, errors };
  }

  fulfilsTheContract(name, (form) => {
    const { take, seen } = memory();
    const app = express();
    const handler =
      form === "receiver" ? toHandler(receiverInto({ take })) : verified(verifier, (event) => take(event), options);
    app.all("/webhooks", handler);
    app.use(express.json()); // for the rest of the application
    return listening(createServer(app), seen);
  });

  test(`${name}: behind express.json() is an error that says what to change`, async (t) => {
    const { take, seen } = memory();
    for (const handler of [toHandler(receiverInto({ take })), verified(verifier, take)]) {
      const { server, errors } = await serve(t, [express.json()], ["/webhooks", handler]);
      const answer = await deliver(server, eventText());
      assert.deepEqual([answer.status, answer.text], [500, '{"handled":true}']);
      assert.deepEqual(errors.map(({ name, code, message }) => [name, code, message]), [
        [
          "RawBodyError",
          "raw_body_unavailable",
          "The raw body of a webhook delivery is not available: a body parser read and parsed it before this handler. " +
            "Register the webhook route above app.use(express.json()), or let that parser keep the bytes: " +
            "express.json({ verify: (request, response, buffer) => { request.rawBody = buffer; } }).",
        ],
      ]);
    }
    assert.deepEqual(await seen(), []);
  });

  test(`${name}: behind express.text() is an error`, async (t) => {
    const { server, errors } = await serve(t, [express.text({ type: "*/*" })], ["/webhooks", toHandler(receiverInto(memory()))]);
    assert.equal((await deliver(server, eventText())).status, 500);
    assert.match(errors[0].message, /: a body parser read it as text before this handler\. Register the webhook route/);
  });

  test(`${name}: behind express.raw(), or a parser that keeps the bytes, they are used`, async (t) => {
    const keep = (request, response, buffer) => void (request.rawBody = buffer);
    for (const parser of [express.raw({ type: "application/json" }), express.json({ verify: keep })]) {
      const { server } = await serve(t, [parser], ["/webhooks", toHandler(receiverInto(memory()))]);
      const answer = await deliver(server, `${eventText("é")}\r\n`);
      assert.deepEqual([answer.status, answer.code], [200, "ok"]);
    }
  });

  test(`${name}: bytes that a parser read are bounded as well`, async (t) => {
    const handler = verified(verifier, () => {}, { maxBodyBytes: 100 });
    const { server } = await serve(t, [express.raw({ type: "*/*" })], ["/webhooks", handler]);
    const answer = await deliver(server, eventText());
    assert.deepEqual([answer.status, answer.code], [413, "payload_too_large"]);
  });

  test(`${name}: a parser that had nothing to do is no hindrance`, async (t) => {
    const handler = toHandler(receiverInto(memory()));
    const { server } = await serve(t, [express.urlencoded({ extended: false })], ["/webhooks", handler]);
    assert.equal((await deliver(server, eventText())).code, "ok");
  });

  test(`${name}: what a handler throws goes to the error handler`, async (t) => {
    const handler = verified(verifier, async () => {
      throw Object.assign(new Error("no stock"), { status: 503 });
    });
    const { server, errors } = await serve(t, ["/webhooks", handler]);
    assert.equal((await deliver(server, eventText())).status, 503);
    assert.deepEqual(errors.map(({ message }) => message), ["no stock"]);
  });

  test(`${name}: a handler may answer, or leave that to the next`, async (t) => {
    const answering = verified(verifier, (event, request, response) => response.status(202).send(event.type));
    const own = await deliver((await serve(t, ["/webhooks", answering])).server, eventText());
    assert.deepEqual([own.status, own.text], [202, "order.confirmed"]);

    const passing = verified(verifier, (event, request, response, next) => {
      request.event = event;
      next();
    });
    const next = (request, response) => response.status(201).send(request.event.merchant.id);
    const { server } = await serve(t, ["/webhooks", passing], ["/webhooks", next]);
    const passed = await deliver(server, eventText());
    assert.deepEqual([passed.status, passed.text], [201, "mer_1"]);
  });
}

test("Express: the adapter of one module system takes the verifier and the receiver of the other", async (t) => {
  const adapter = commonJs("verify-wasm/express");
  assert.notEqual(adapter.verified, verified);
  for (const handler of [adapter.verified(verifier, () => {}), adapter.toHandler(receiverInto(memory()))]) {
    const app = express5();
    app.post("/webhooks", handler);
    const server = await listening(createServer(app), async () => []);
    t.after(() => server.close());
    assert.equal((await deliver(server, eventText())).code, "ok");
    const answer = await deliver(server, eventText(), { "Service-Signature": "v1=0" });
    assert.deepEqual([answer.status, answer.code], [401, "invalid_signature"]);
  }
});
