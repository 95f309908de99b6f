// What comes out: events, envelopes, errors, and signed headers.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";
import { CONTRACT_VERSION, VerificationError, Verifier, sign } from "verify-wasm";
import { cases, valid } from "./vectors.cjs";

const { body, headers, secrets, options } = valid;
const verifier = new Verifier(secrets, options);
const [secret] = secrets;

test("the event is a plain object that belongs to the caller", () => {
  const first = verifier.verify(body, headers);
  const second = verifier.verify(body, headers);
  assert.equal(Object.getPrototypeOf(first), Object.prototype);
  assert.notEqual(first, second);
  first.type = "changed";
  assert.equal(second.type, "webhook.test");
});

test("an envelope has every field and builds the event once, on first use", () => {
  const content = JSON.stringify({
    id: "evt_1",
    type: "order.confirmed",
    api_version: "2026-09-01",
    created_at: "2026-09-01T12:00:00.000Z",
    sequence: 7,
    resource_version: 9007199254740991,
    livemode: false,
    merchant: { id: "mer_1", slug: "café 🛒" },
    data: { object: {} },
  });
  const bytes = Buffer.from(content);
  const envelope = new Verifier(secret).verifyEnvelope(bytes, sign(secret, bytes));
  // The text is the envelope's own: what happens to the buffer afterwards does not reach it.
  bytes.fill(0);
  verifier.verify(body, headers);

  const { parse } = JSON;
  let parses = 0;
  JSON.parse = (...parameters) => {
    parses += 1;
    return parse(...parameters);
  };
  try {
    assert.ok("event" in envelope);
    assert.deepEqual({ ...envelope }, {
      id: "evt_1",
      type: "order.confirmed",
      apiVersion: "2026-09-01",
      createdAt: "2026-09-01T12:00:00.000Z",
      sequence: 7,
      resourceVersion: 9007199254740991,
      livemode: false,
      merchant: { id: "mer_1", slug: "café 🛒" },
    });
    assert.equal(parses, 0);
    assert.deepEqual(envelope.event, parse(content));
    assert.equal(envelope.event, envelope.event);
    assert.equal(parses, 1);
  } finally {
    JSON.parse = parse;
  }
});

test("optional fields of an envelope are null when they are absent or null", () => {
  const { sequence, resourceVersion, livemode } = verifier.verifyEnvelope(body, headers);
  assert.deepEqual([sequence, resourceVersion, livemode], [null, null, null]);
});

test("an error has a name, a code, its status, and nothing of the secret", () => {
  assert.throws(
    () => verifier.verify(`${body} `, headers),
    (error) => {
      assert.ok(error instanceof VerificationError);
      assert.ok(error instanceof Error);
      assert.equal(error.name, "VerificationError");
      assert.equal(error.code, "invalid_signature");
      assert.deepEqual([error.status, error.statusCode, error.expose], [401, 401, true]);
      assert.equal(
        error.message,
        "webhook verification failed: invalid_signature. No v1 signature in the header fits: it was made with " +
          "another secret, or over other bytes. verifier.explain(body, headers) tells what went wrong.",
      );
      assert.deepEqual(Object.keys(error).sort(), ["code", "expose", "name", "status", "statusCode"]);
      return true;
    },
  );
});

test("the message of every code is a sentence of its own that names explain", () => {
  const codes = new Set(cases.map(({ expect }) => expect).filter((expect) => expect !== "ok"));
  const sentences = [...codes].map((code) => {
    const { message } = new VerificationError(code);
    const [, sentence] = message.match(/^webhook verification failed: (?:[a-z_]+)\. (.*\.) verifier\.explain\(body, headers\) /);
    assert.match(sentence, /^[A-Z].{10,}\.$/, code);
    return sentence;
  });
  assert.equal(new Set(sentences).size, codes.size);
});

test("an error that nobody catches prints a few lines, among them the names of the code", () => {
  const script = `import { Verifier } from "verify-wasm"; new Verifier("whsec_a").verify("{}", {});`;
  const scriptCjs = `const { Verifier } = require("verify-wasm"); new Verifier("whsec_a").verify("{}", {});`;
  for (const [type, code] of [["module", script], ["commonjs", scriptCjs]]) {
    for (const flags of [[], ["--enable-source-maps"]]) {
      const words = [...flags, `--input-type=${type}`, "--eval", code];
      const { stderr } = spawnSync(process.execPath, words, { cwd: new URL(".", import.meta.url), encoding: "utf8" });
      assert.ok(stderr.length < 4000, `${stderr.length} characters`);
      assert.match(stderr, /VerificationError: webhook verification failed: invalid_timestamp\. /);
      assert.match(stderr, /at Verifier\.verify /);
      if (flags.length > 0) assert.match(stderr, /src\/verifier\.ts:\d+/);
    }
  }
});

test("every code has the status of contract 11.1", () => {
  const statuses = {
    missing_body: 400,
    invalid_secret: 503,
    invalid_timestamp: 400,
    stale_timestamp: 401,
    missing_signature: 401,
    invalid_signature: 401,
    invalid_json: 400,
    invalid_payload: 400,
    invalid_event_id: 400,
    invalid_event_type: 400,
    invalid_api_version: 400,
    invalid_created_at: 400,
    invalid_merchant: 400,
    invalid_data: 400,
    event_id_mismatch: 400,
  };
  for (const [code, status] of Object.entries(statuses)) assert.equal(new VerificationError(code).status, status, code);
  const seen = new Set(cases.map(({ expect }) => expect).filter((expect) => expect !== "ok"));
  assert.deepEqual([...seen].sort(), Object.keys(statuses).sort());
  assert.throws(() => new VerificationError("invalid_whatever"), TypeError);
});

test("signed headers are those that the service sends", () => {
  const now = () => 1788264000999;
  const signed = sign(["whsec_new", secret], body, { now });
  const digest = (key) => createHmac("sha256", key).update(`1788264000.`).update(body).digest("hex");
  assert.deepEqual(signed, {
    "Service-Event-Id": "evt_1",
    "Service-Timestamp": "1788264000",
    "Service-Signature": `v1=${digest("whsec_new")},v1=${digest(secret)}`,
    "Service-Version": "2026-09-01",
  });
  for (const trusted of ["whsec_new", secret]) {
    assert.equal(new Verifier(trusted, { now }).verify(body, signed).id, "evt_1");
  }
});

test("anything can be signed, for a receiver's tests of refusals", () => {
  const verify = (content, signed) => new Verifier(secret).check(content, signed).code;
  const signOf = (content) => sign(secret, content, { eventId: "evt_1" });
  for (const [content, code] of [
    ["no json", "invalid_json"],
    ["[]", "invalid_payload"],
    ["null", "invalid_payload"],
    ["{}", "invalid_event_id"],
    [new Uint8Array([0xff]), "invalid_json"],
    ["", "missing_body"],
  ]) {
    assert.equal(verify(content, signOf(content)), code);
  }
  assert.equal(verify(body, sign(secret, body, { eventId: "evt_2" })), "event_id_mismatch");
  assert.equal(sign(secret, "{}", { eventId: "evt_1" })["Service-Version"], "2026-09-01");
});

test("what cannot be signed is refused", () => {
  for (const call of [
    () => sign("", body),
    () => sign([], body),
    () => sign("not a secret", body),
    () => sign([secret, "whsec_"], body),
    () => sign(secret, undefined),
    () => sign(secret, null),
    () => sign(secret, { id: "evt_1" }),
    () => sign(secret, "{}"),
    () => sign(secret, body, null),
    () => sign(secret, body, { now: 5 }),
  ]) {
    assert.throws(call, TypeError);
  }
  for (const now of [NaN, -1000, 1e16]) assert.throws(() => sign(secret, body, { now: () => now }), RangeError);
});

test("the contract's version is the package's", () => {
  const { version } = JSON.parse(readFileSync(new URL("node_modules/verify-wasm/package.json", import.meta.url)));
  assert.equal(CONTRACT_VERSION, "0.2.0");
  assert.equal(version, "0.2.0");
});
