// The receiver over Request and Response: every answer of contract 11.1, the bounds, the settings.
//
// What it does with claims is tested with durable stores, in `stores/receiver.test.mjs`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import test from "node:test";
import { createReceiver, sign, VerificationError, Verifier } from "verify-wasm";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { SECRET, answered, delivery, eventText } from "./stores/deliveries.mjs";
import vectors from "./vectors.cjs";

/** A receiver, what it acted on and what it reported. */
function receiving(options = {}) {
  const acted = [];
  const reported = [];
  const receiver = createReceiver({
    ...("verifier" in options ? {} : { secret: SECRET }),
    store: createMemoryStore(),
    onEvent: (event, { attempt }) => void acted.push([event, attempt]),
    onError: (error, context) => void reported.push([context.code, context.eventId, error.message]),
    ...options,
  });
  return { receiver, acted, reported };
}

const post = (body, headers = {}) =>
  new Request("http://receiver/", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  });

test("the answer is the code and nothing else", async () => {
  const { receiver, acted, reported } = receiving();
  const response = await receiver(delivery("evt_1"));
  assert.equal(response.status, 200);
  assert.deepEqual([...response.headers], [["content-type", "application/json"]]);
  assert.equal(await response.text(), '{"code":"ok"}');
  assert.deepEqual(acted, [[JSON.parse(eventText("evt_1")), 1]]);
  assert.deepEqual(reported, []);
});

test("every vector gets the status of its code, from receive and through a Request", async () => {
  const statuses = { ok: 200, invalid_secret: 503, stale_timestamp: 401, missing_signature: 401, invalid_signature: 401 };
  let requests = 0;
  for (const { name, expect, body, headers, secrets, options } of vectors.cases) {
    const expected = [statuses[expect] ?? 400, expect];
    const own = () => receiving({ verifier: new Verifier(secrets, options) });
    const { receiver, acted } = own();
    const given = { method: "POST", contentType: "application/json", body, headers };
    const { status, body: answer } = await receiver.receive(given);
    assert.deepEqual([status, answer.code], expected, name);
    assert.deepEqual(acted, expect === "ok" ? [[JSON.parse(body.toString("utf8")), 1]] : [], name);

    if (!Object.entries(headers).every(isCarried)) continue;
    requests += 1;
    assert.deepEqual(await answered(await own().receiver(post(body, headers))), expected, name);
  }
  assert.equal(vectors.cases.length, vectors.caseCount);
  assert.ok(requests > 100, `${requests}`);
});

/** Whether a Request keeps this line as it is: it removes outer blanks and refuses what is not Latin-1. */
function isCarried([name, value]) {
  try {
    return new Headers([[name, value]]).get(name) === value;
  } catch {
    return false;
  }
}

test("other methods and other media types are refused before the body is read", async () => {
  const { receiver, acted } = receiving();
  for (const method of ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const response = await receiver(new Request("http://receiver/", { method }));
    assert.equal(response.headers.get("allow"), "POST");
    assert.deepEqual(await answered(response), [405, "method_not_allowed"], method);
  }
  for (const type of ["application/jsonx", "text/json", "application/problem+json", "text/plain; application/json", ";"]) {
    assert.deepEqual(await answered(await receiver(post("{}", { "content-type": type }))), [415, "unsupported_media_type"]);
  }
  const untyped = new Request("http://receiver/", { method: "POST", body: new Uint8Array(1) });
  assert.deepEqual(await answered(await receiver(untyped)), [415, "unsupported_media_type"]);
  const answer = await receiver.receive({ method: "GET", contentType: null, body: null, headers: {} });
  assert.deepEqual([answer.status, answer.headers.allow], [405, "POST"]);

  for (const [n, type] of ["Application/JSON", "application/json;charset=utf-8", "application/json ; a=b"].entries()) {
    const text = eventText(`evt_${n}`);
    assert.deepEqual(await answered(await receiver(post(text, { ...sign(SECRET, text), "content-type": type }))), [200, "ok"]);
  }
  assert.equal(acted.length, 3);
});

test("a body is read up to the bound and not a byte further", async () => {
  const text = eventText("evt_1");
  const { receiver, acted } = receiving({ maxBodyBytes: text.length });
  assert.equal(receiver.maxBodyBytes, text.length);
  const headers = sign(SECRET, text);
  const tooLarge = [413, "payload_too_large"];
  for (const [body, declared] of [
    [`${text} `, {}],
    [text, { "content-length": String(text.length + 1) }],
    [text, { "content-length": "99999999999999999999" }],
  ]) {
    assert.deepEqual(await answered(await receiver(post(body, { ...headers, ...declared }))), tooLarge);
  }
  const given = { method: "POST", contentType: "application/json", headers };
  assert.equal((await receiver.receive({ ...given, body: new TextEncoder().encode(`${text} `) })).status, 413);
  assert.deepEqual(acted, []);
  assert.deepEqual(await answered(await receiver(post(text, headers))), [200, "ok"]);
  assert.equal(receiving().receiver.maxBodyBytes, 1_048_576);
});

test("a stream without an end is cancelled at the bound", async () => {
  const { receiver } = receiving({ maxBodyBytes: 1000 });
  let pulled = 0;
  let cancelled = false;
  const endless = new ReadableStream(
    {
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(100));
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  assert.deepEqual(await answered(await receiver(post(endless))), [413, "payload_too_large"]);
  assert.ok(cancelled);
  assert.equal(pulled, 11);
});

test("a body in pieces is put together; one that breaks off, or is none, is missing", async () => {
  const { receiver, acted } = receiving();
  const bytes = new TextEncoder().encode(eventText("evt_1", { note: "é, 🛒" }));
  const pieces = (broken) =>
    new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        if (broken) controller.error(new Error("the connection is gone"));
        else controller.close();
      },
    });
  const headers = sign(SECRET, bytes);
  const missing = [400, "missing_body"];
  assert.deepEqual(await answered(await receiver(post(pieces(true), headers))), missing);
  for (const body of [undefined, "", new Uint8Array(0)]) {
    assert.deepEqual(await answered(await receiver(post(body, headers))), missing);
  }
  assert.deepEqual(await answered(await receiver(post(pieces(false), headers))), [200, "ok"]);
  assert.equal(acted.length, 1);
});

test("a body that was read before is a mistake of the application, which is told what to change", async () => {
  const { receiver } = receiving();
  const request = delivery("evt_1");
  await request.json();
  await assert.rejects(receiver(request), { name: "TypeError", message: /read before .* request\.clone\(\)/ });
});

test("types that nobody knows and members that nobody asked for pass", async () => {
  const { receiver, acted } = receiving();
  const text = eventText("evt_1", { type: "order.teleported", more: [1, { a: null }] });
  assert.deepEqual(await answered(await receiver(delivery("evt_1", { text }))), [200, "ok"]);
  assert.deepEqual(acted, [[JSON.parse(text), 1]]);
});

test("a receiver without a usable secret answers 503 and says so", async () => {
  for (const secret of [undefined, "", "whsec_", [SECRET, "whsec_with a blank"]]) {
    const { receiver, acted, reported } = receiving({ secret });
    assert.deepEqual(await answered(await receiver(delivery("evt_1"))), [503, "invalid_secret"]);
    const said = new VerificationError("invalid_secret").message;
    assert.deepEqual(reported, [["invalid_secret", null, said]]);
    assert.deepEqual(acted, []);
  }
});

test("a verifier of the other module system's copy is as good", async () => {
  const other = createRequire(import.meta.url)("verify-wasm");
  assert.notEqual(other.Verifier, Verifier);
  const { receiver } = receiving({ verifier: new other.Verifier(SECRET) });
  assert.deepEqual(await answered(await receiver(delivery("evt_1", { secret: "whsec_another" }))), [401, "invalid_signature"]);
  assert.deepEqual(await answered(await receiver(delivery("evt_1"))), [200, "ok"]);
});

test("an error is put on the console unless somebody else wants it", () => {
  const program = `
    import { createReceiver } from "verify-wasm";
    import { SECRET, delivery } from "./stores/deliveries.mjs";
    import { createMemoryStore } from "verify-wasm/stores/memory";
    const onEvent = () => {
      throw new Error("the shelf is empty");
    };
    const response = await createReceiver({ secret: SECRET, store: createMemoryStore(), onEvent })(delivery("evt_1"));
    console.log(response.status);
  `;
  const run = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: new URL(".", import.meta.url),
    encoding: "utf8",
  });
  assert.equal(run.stdout, "200\n");
  const [warning, line] = run.stderr.split("\n");
  assert.match(warning, /stores\/memory is for tests only/);
  assert.equal(line, "verify-wasm receiver: processing_failed (event evt_1): Error: the shelf is empty");
  assert.ok(!run.stderr.includes(SECRET));
});

test("settings that cannot be meant are refused at once", () => {
  const store = createMemoryStore();
  const onEvent = () => {};
  const good = { secret: SECRET, store, onEvent };
  const { claim: _, ...withoutClaim } = store;
  for (const options of [
    undefined,
    null,
    5,
    {},
    { store, onEvent },
    { ...good, secret: 5 },
    { ...good, verifier: new Verifier(SECRET) },
    { store, onEvent, verifier: {} },
    { store, onEvent, verifier: null },
    { ...good, store: undefined },
    { ...good, store: withoutClaim },
    { ...good, onEvent: undefined },
    { ...good, onError: "log" },
    { ...good, onRefused: null },
    { ...good, onUnknownType: "log" },
    { ...good, onFailure: "retry" },
    { ...good, maxBodyBytes: "1mb" },
    { ...good, leaseSeconds: "300" },
  ]) {
    assert.throws(() => createReceiver(options), { name: "TypeError" }, JSON.stringify(options));
  }
  for (const [name, values] of Object.entries({
    maxBodyBytes: [0, -1, 1.5, NaN, Infinity],
    answerWithinSeconds: [0, -1, 3601, NaN],
    leaseSeconds: [0, -1, 86_401, NaN],
    retryDelaySeconds: [-1, 3601, NaN],
  })) {
    for (const value of values) {
      assert.throws(() => createReceiver({ ...good, [name]: value }), { name: "RangeError" }, `${name}: ${value}`);
    }
  }
  assert.throws(() => createReceiver({ ...good, secret: Array(9).fill(SECRET) }), RangeError);
  const receiver = createReceiver({ ...good, retryDelaySeconds: 0, maxBodyBytes: 1, answerWithinSeconds: 0.001 });
  assert.equal(typeof receiver, "function");
});

test("limits and events that cannot be meant are refused", async () => {
  const { receiver, acted } = receiving();
  for (const limit of [0, -1, 1.5, 1001, "5", NaN]) await assert.rejects(receiver.retryPending({ limit }), RangeError);
  const event = JSON.parse(eventText("evt_1"));
  for (const wrong of [
    undefined,
    null,
    "evt_1",
    { ...event, id: "evt_" },
    { ...event, id: "evt_\n" },
    { ...event, type: 5 },
    { ...event, created_at: undefined },
    { ...event, merchant: null },
    { ...event, livemode: "yes" },
  ]) {
    await assert.rejects(receiver.accept(wrong), { name: "TypeError" });
  }
  assert.deepEqual(acted, []);
});
