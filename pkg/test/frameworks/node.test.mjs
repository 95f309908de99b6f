// The adapter of `node:http`.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { connect, createServer as createServer2 } from "node:http2";
import process from "node:process";
import test from "node:test";
import { toListener, verified } from "verify-wasm/node";
import { fulfilsTheContract } from "./contract.mjs";
import { BODY_BYTES_MAX, deliver, eventOfBytes, eventText, signed } from "./deliveries.mjs";
import { listening, memory, options, receiverInto, verifier } from "./servers.mjs";

fulfilsTheContract("node:http", (form) => {
  const { take, seen } = memory();
  const listener =
    form === "receiver" ? toListener(receiverInto({ take })) : verified(verifier, (event) => take(event), options);
  return listening(createServer(listener), seen);
});

/** A server whose errors are kept. */
async function serve(t, listenerOf) {
  const errors = [];
  const server = await listening(createServer(listenerOf({ onError: (error) => errors.push(error) })), async () => []);
  t.after(() => server.close());
  return { server, errors };
}

test("node:http: a request that was read before is an error that says what to change", async (t) => {
  const { server, errors } = await serve(t, (onError) => {
    const listener = toListener(receiverInto(memory()), onError);
    return async (request, response) => {
      for await (const chunk of request) request.body = JSON.parse(chunk);
      listener(request, response);
    };
  });
  const answer = await deliver(server, eventText());
  assert.deepEqual([answer.status, answer.text], [500, '{"code":"internal_error"}']);
  assert.deepEqual(errors.map(({ name, message }) => [name, message]), [
    [
      "RawBodyError",
      "The raw body of a webhook delivery is not available: a body parser read and parsed it before this handler. " +
        "Call this listener before anything reads the request, or keep the bytes as request.rawBody.",
    ],
  ]);
});

test("node:http: bytes that were kept are used", async (t) => {
  const { server } = await serve(t, (onError) => {
    const listener = toListener(receiverInto(memory()), onError);
    return async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      request.rawBody = Buffer.concat(chunks);
      listener(request, response);
    };
  });
  assert.equal((await deliver(server, eventText())).code, "ok");
});

test("node:http: text instead of bytes is an error", async (t) => {
  const { server, errors } = await serve(t, (onError) => {
    const listener = toListener(receiverInto(memory()), onError);
    return (request, response) => listener(request.setEncoding("utf8"), response);
  });
  const answer = await deliver(server, eventText());
  assert.deepEqual([answer.status, answer.code], [500, "internal_error"]);
  assert.match(errors[0].message, /request\.setEncoding\(\) turned its bytes into text/);
});

test("node:http: a handler that throws is a 500, one that answers has answered", async (t) => {
  const failing = await serve(t, (onError) => verified(verifier, () => Promise.reject(new Error("no stock")), onError));
  const answer = await deliver(failing.server, eventText());
  assert.deepEqual([answer.status, answer.code], [500, "internal_error"]);
  assert.deepEqual(failing.errors.map(({ message }) => message), ["no stock"]);

  const own = await serve(t, (onError) =>
    verified(verifier, (event, request, response) => response.writeHead(202).end(event.type), onError),
  );
  const owned = await deliver(own.server, eventText());
  assert.deepEqual([owned.status, owned.text], [202, "order.confirmed"]);

  const status = await serve(t, (onError) =>
    verified(verifier, (event, request, response) => void (response.statusCode = 503), onError),
  );
  assert.deepEqual((({ status, text }) => [status, text])(await deliver(status.server, eventText())), [503, ""]);
});

test("node:http: whoever is told of errors ends nothing", async (t) => {
  const unhandled = [];
  const note = (reason) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  t.after(() => process.off("unhandledRejection", note));
  const throws = () => {
    throw new Error("of the log");
  };
  for (const onError of [throws, async () => throws()]) {
    const { server } = await serve(t, () => verified(verifier, throws, { onError }));
    const answer = await deliver(server, eventText());
    assert.deepEqual([answer.status, answer.code], [500, "internal_error"]);
  }
  await new Promise(setImmediate);
  assert.deepEqual(unhandled, []);
});

test("node:http2: deliveries are judged alike", async (t) => {
  const { take, seen } = memory();
  const http2 = createServer2(toListener(receiverInto({ take })));
  await new Promise((ready) => http2.listen(0, "127.0.0.1", ready));
  const session = connect(`http://127.0.0.1:${http2.address().port}`);
  t.after(() => new Promise((closed) => session.close(() => http2.close(closed))));
  const post = async (body, more) => {
    const stream = session.request({ ":method": "POST", ":path": "/webhooks", ...signed(body, more) });
    const head = new Promise((received) => stream.on("response", received));
    stream.end(body);
    let text = "";
    for await (const chunk of stream) text += chunk;
    return [(await head)[":status"], JSON.parse(text).code];
  };
  const body = `${eventText("é")}\r\n`;
  assert.deepEqual(await post(body), [200, "ok"]);
  assert.deepEqual(await post(body), [200, "duplicate"]);
  assert.deepEqual(await post(eventText(), { "Service-Signature": "v1=0" }), [401, "invalid_signature"]);
  assert.deepEqual(await post(eventOfBytes(BODY_BYTES_MAX + 1)), [413, "payload_too_large"]);
  assert.equal((await seen()).length, 1);
});

test("node:http: whoever wants to know is told what was refused, and cannot change the answer", async (t) => {
  const refused = [];
  const onRefused = (code, { body, headers }) => {
    refused.push([code, String(body), headers["service-timestamp"]]);
    throw new Error("of the log");
  };
  const { server, errors } = await serve(t, (onError) => verified(verifier, () => {}, { onRefused, ...onError }));
  const body = eventText();
  const answer = await deliver(server, body, { "Service-Timestamp": "1700000000" });
  assert.deepEqual([answer.status, answer.code], [401, "stale_timestamp"]);
  assert.equal((await deliver(server, eventText())).code, "ok");
  assert.deepEqual([refused, errors], [[["stale_timestamp", body, "1700000000"]], []]);
});

test("node:http: what cannot be meant is refused when the listener is made", () => {
  const handler = () => {};
  for (const [make, error] of [
    [() => toListener(handler), /^TypeError: receiver must be what createReceiver returns/],
    [() => toListener(receiverInto(memory()), { onError: "log" }), /^TypeError: onError must be a function/],
    [() => verified({}, handler), /^TypeError: verifier must be a Verifier/],
    [() => verified(verifier), /^TypeError: handler must be a function that takes the event/],
    [() => verified(verifier, handler, { maxBodyBytes: "1mb" }), /^TypeError: maxBodyBytes must be a number/],
    [() => verified(verifier, handler, { onRefused: "log" }), /^TypeError: onRefused must be a function/],
    [() => verified(verifier, handler, { maxBodyBytes: 0 }), /^RangeError: maxBodyBytes must be a whole number/],
    [() => verified(verifier, handler, { maxBodyBytes: 1.5 }), /^RangeError: maxBodyBytes must be a whole number/],
  ]) {
    assert.throws(make, (thrown) => error.test(String(thrown)));
  }
});
