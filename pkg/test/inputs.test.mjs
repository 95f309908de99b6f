// The forms in which bodies and headers come.

import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import test from "node:test";
import { createContext, runInContext } from "node:vm";
import { Verifier } from "verify-wasm";
import { cases, valid } from "./vectors.cjs";

const { body, headers, secrets, options } = valid;
const verifier = new Verifier(secrets, options);
const text = body.toString("utf8");
const event = JSON.parse(text);
const accepted = { ok: true, event };
const refused = (code) => ({ ok: false, code });

const timestamp = headers["service-timestamp"];
const signature = headers["service-signature"];
const eventId = headers["service-event-id"];

/** Bytes that were handed to another thread and are gone here. */
function detached() {
  const bytes = new Uint8Array(body);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

test("bodies", async (t) => {
  const shifted = new Uint8Array(body.length + 7);
  shifted.set(body, 3);
  const shared = new Uint8Array(new SharedArrayBuffer(body.length));
  shared.set(body);
  const foreign = createContext({ bytes: [...body] });
  for (const [form, value] of Object.entries({
    Buffer: body,
    Uint8Array: new Uint8Array(body),
    "Uint8Array with an offset": shifted.subarray(3, 3 + body.length),
    "Uint8Array in shared memory": shared,
    "Uint8Array under another name": Object.defineProperty(new Uint8Array(body), Symbol.toStringTag, { value: "Blob" }),
    ArrayBuffer: new Uint8Array(body).buffer,
    string: text,
    "Uint8Array of another realm": runInContext("new Uint8Array(bytes)", foreign),
    "ArrayBuffer of another realm": runInContext("new Uint8Array(bytes).buffer", foreign),
  })) {
    await t.test(form, () => {
      assert.deepEqual(verifier.check(value, headers), accepted);
      assert.deepEqual(verifier.verifyEnvelope(value, headers).event, event);
    });
  }
  for (const absent of [null, undefined, "", new Uint8Array(0), new ArrayBuffer(0)]) {
    await t.test(`absent: ${absent?.constructor.name ?? String(absent)}`, () => {
      assert.deepEqual(verifier.check(absent, headers), refused("missing_body"));
    });
  }
});

test("what is no raw body is a TypeError that says what to do", async (t) => {
  for (const [form, value, said] of [
    ["a parsed event", event, /not a parsed object: read the body before any JSON parser/],
    ["an array", [...body], /not a parsed object/],
    ["a number", 5, /not a number/],
    ["a boolean", true, /not a boolean/],
    ["a DataView", new DataView(new ArrayBuffer(1)), /not a DataView/],
    ["a Uint16Array", new Uint16Array(1), /not a Uint16Array/],
    ["a SharedArrayBuffer", new SharedArrayBuffer(1), /not a SharedArrayBuffer/],
    ["a promise", Promise.resolve(body), /not a Promise/],
    ["a String object", new String(text), /not a String/],
    ["what calls itself a Uint8Array", { [Symbol.toStringTag]: "Uint8Array" }, /read the body before/],
    ["what calls itself an ArrayBuffer", { [Symbol.toStringTag]: "ArrayBuffer" }, /read the body before/],
    ["a detached Uint8Array", detached(), /detached/],
    ["a detached ArrayBuffer", detached().buffer, /detached/],
  ]) {
    await t.test(form, () => {
      for (const method of ["verify", "check", "verifyEnvelope"]) {
        assert.throws(() => verifier[method](value, headers), { name: "TypeError", message: said });
      }
    });
  }
});

test("a string is taken as its UTF-8 bytes", () => {
  const bom = `\ufeff${text}`;
  assert.deepEqual(verifier.check(bom, headers), refused("invalid_signature"));
  // A lone surrogate has no UTF-8 form: it is encoded as U+FFFD, and so does not match what was signed.
  assert.deepEqual(verifier.check(text.replace("é", "\ud800"), headers), refused("invalid_signature"));
});

test("headers", async (t) => {
  const pairs = [["Service-Timestamp", timestamp], ["service-signature", signature], ["SERVICE-EVENT-ID", eventId]];
  const many = { host: "localhost", "content-type": "application/json", "set-cookie": ["a", "b"], "x-16-characters-": "x" };
  for (const [form, value] of Object.entries({
    Headers: new Headers(pairs),
    "record in lowercase": headers,
    "record in canonical spelling": { "Service-Timestamp": timestamp, "Service-Signature": signature, "Service-Event-Id": eventId },
    "record among others": { ...many, ...headers },
    "record without a prototype": Object.assign(Object.create(null), headers),
    "record with arrays": { ...headers, "service-signature": ["v0=x", signature] },
    "record with undefined members": { ...headers, "Service-Signature": undefined },
    "record with a header named get": { ...headers, get: "x" },
    "pairs": pairs,
    "map": new Map(pairs),
    "pairs with repeated signature": [["service-signature", "v1=0"], ...pairs],
    "Headers with repeated signature": new Headers([["service-signature", "v1=0"], ...pairs]),
  })) {
    await t.test(form, () => assert.deepEqual(verifier.check(body, value), accepted));
  }
});

test("lines of one name are joined, whatever the form", async (t) => {
  const rest = { "service-signature": signature, "service-event-id": eventId };
  for (const [form, value] of Object.entries({
    array: { ...rest, "service-timestamp": [timestamp, timestamp] },
    "two spellings": { ...rest, "service-timestamp": timestamp, "Service-Timestamp": timestamp },
    pairs: [...Object.entries(rest), ["service-timestamp", timestamp], ["Service-Timestamp", timestamp]],
    Headers: new Headers([...Object.entries(rest), ["service-timestamp", timestamp], ["service-timestamp", timestamp]]),
  })) {
    await t.test(form, () => assert.deepEqual(verifier.check(body, value), refused("invalid_timestamp")));
  }
  await t.test("an empty array is no line", () => {
    assert.deepEqual(verifier.check(body, { ...headers, "service-signature": [] }), refused("missing_signature"));
  });
});

test("headers outside ASCII get the codes of their kind", () => {
  const changed = (name, value) => verifier.check(body, { ...headers, [name]: value });
  assert.deepEqual(changed("service-timestamp", `${timestamp}é`), refused("invalid_timestamp"));
  assert.deepEqual(changed("service-signature", `v1=é,${signature}`), accepted);
  assert.deepEqual(changed("service-signature", `${signature}é`), refused("invalid_signature"));
  assert.deepEqual(changed("service-event-id", `${eventId}é`), refused("event_id_mismatch"));
  assert.deepEqual(changed("service-event-id", `${eventId}\ud800`), refused("event_id_mismatch"));
  // Halves of a surrogate pair at the end of one header and the start of the next stay two characters.
  const halves = { ...headers, "service-signature": `${signature},\ud83d`, "service-event-id": `\uded2${eventId}` };
  assert.deepEqual(verifier.check(body, halves), refused("event_id_mismatch"));
});

test("only a record's own names are headers", () => {
  Object.prototype["service-signature"] = "v1=0";
  try {
    assert.deepEqual(verifier.check(body, headers), accepted);
    const { "service-signature": _, ...without } = headers;
    assert.deepEqual(verifier.check(body, without), refused("missing_signature"));
  } finally {
    delete Object.prototype["service-signature"];
  }
  const disguised = JSON.parse(`{"__proto__":${JSON.stringify(headers)}}`);
  assert.deepEqual(verifier.check(body, disguised), refused("invalid_timestamp"));
});

test("headers by a look-up that answers undefined are absent", () => {
  const lookup = (found) => ({ get: (name) => found[name], append() {} });
  assert.deepEqual(verifier.check(body, lookup(headers)), accepted);
  assert.deepEqual(verifier.check(body, lookup({})), refused("invalid_timestamp"));
});

test("what are no headers is a TypeError", () => {
  for (const value of [
    undefined,
    null,
    "service-timestamp: 1",
    5,
    ["service-timestamp", timestamp],
    [["service-timestamp"]],
    [[5, "x"]],
    [["service-timestamp", 5]],
    { "service-timestamp": 1788264000 },
    { "service-timestamp": [1788264000] },
    { "service-timestamp": null },
    { get: () => 5, append() {} },
  ]) {
    assert.throws(() => verifier.check(body, value), TypeError, JSON.stringify(value));
  }
});

test("a request instead of its headers is a TypeError that says so", () => {
  const message = /this is a whole request: hand in its headers \(request\.headers\)/;
  for (const whole of [
    new Request("https://receiver/", { headers }),
    new Response(null, { headers }),
    { method: "POST", url: "/", headers, rawHeaders: [] },
    { headers: new Headers(headers), get() {}, append() {} },
  ]) {
    for (const method of ["verify", "check", "verifyEnvelope", "explain"]) {
      assert.throws(() => verifier[method](body, whole), { name: "TypeError", message }, method);
    }
  }
  // A header may have that name.
  assert.deepEqual(verifier.check(body, { ...headers, headers: "x" }), accepted);
  assert.deepEqual(verifier.check(body, { ...headers, headers: ["x"] }), accepted);
});

test("the headers of a real request", async () => {
  const results = [];
  const server = createServer(async (incoming, response) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    results.push(verifier.check(Buffer.concat(chunks), incoming.headers));
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  for (const sent of [headers, { ...headers, "Service-Timestamp": [timestamp, timestamp], "service-timestamp": undefined }]) {
    const present = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
    await new Promise((resolve, reject) => {
      const outgoing = request({ port, host: "127.0.0.1", method: "POST", headers: present }, (response) => {
        response.resume().on("end", resolve);
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }
  await new Promise((resolve) => server.close(resolve));
  assert.deepEqual(results, [accepted, refused("invalid_timestamp")]);
});

test("a body larger than any before it, and a small one after it", () => {
  const big = cases.find(({ name }) => name === "ok minimal");
  const padded = Buffer.concat([big.body, Buffer.alloc(3_000_000, " ")]);
  const bigVerifier = new Verifier(big.secrets, big.options);
  assert.deepEqual(bigVerifier.check(padded, big.headers), refused("invalid_signature"));
  assert.deepEqual(bigVerifier.check(padded.toString(), big.headers), refused("invalid_signature"));
  assert.equal(bigVerifier.check(big.body, big.headers).ok, true);
});
