// What is far too large: bodies, headers, many headers. None of it changes the verdict of the delivery after it.

import assert from "node:assert/strict";
import test from "node:test";
import { Verifier, sign } from "verify-wasm";
import { valid } from "./vectors.cjs";

const { body, headers, secrets, options } = valid;
const verifier = new Verifier(secrets, options);
const text = body.toString("utf8");
const event = JSON.parse(text);
const accepted = { ok: true, event };
const refused = (code) => ({ ok: false, code });

const signature = headers["service-signature"];
const eventId = headers["service-event-id"];
const BOUND = 16 * 1024 * 1024;

/** The valid event with blanks behind it, of so many bytes, and headers that fit. */
function padded(length) {
  const bytes = Buffer.alloc(length, " ");
  bytes.set(body);
  return { bytes, signed: sign(secrets[0], bytes, { now: options.now }) };
}

test("a body above the bound is invalid_payload, whatever its form, and whatever else is wrong", async (t) => {
  // As large as the runtime makes them; memory that nobody touches is none.
  const large = {
    "Buffer of 2^31 - 48 bytes": () => Buffer.alloc(2 ** 31 - 48),
    "Uint8Array of 2^32 - 1 bytes": () => new Uint8Array(2 ** 32 - 1),
    "ArrayBuffer of 2^32 + 10 bytes": () => new ArrayBuffer(2 ** 32 + 10),
    "Uint8Array just above it": () => new Uint8Array(BOUND + 1),
    "string just above it": () => "x".repeat(BOUND + 1),
    "string of 2^29 - 24 characters": () => "x".repeat(2 ** 29 - 24),
    "string whose UTF-8 alone is above it": () => "\u20ac".repeat(BOUND / 3 + 1),
    "string of surrogate pairs": () => "\ud83d\uded2".repeat(BOUND / 4 + 1),
    "string of halves of them": () => "\ud83d".repeat(BOUND / 3 + 1),
  };
  for (const [form, make] of Object.entries(large)) {
    await t.test(form, () => {
      const value = make();
      for (const those of [headers, {}]) {
        assert.deepEqual(verifier.check(value, those), refused("invalid_payload"));
        assert.throws(() => verifier.verify(value, those), { code: "invalid_payload" });
        assert.throws(() => verifier.verifyEnvelope(value, those), { code: "invalid_payload" });
      }
      assert.deepEqual(verifier.explain(value, headers).causes.map(({ cause }) => cause), ["body_over_limit"]);
      assert.deepEqual(verifier.check(body, headers), accepted);
      assert.deepEqual(verifier.check(text, headers), accepted);
      assert.deepEqual(verifier.verifyEnvelope(body, headers).event, event);
    });
  }
});

test("a body of exactly the bound is verified, one byte more is not", () => {
  for (const [bound, own] of [[BOUND, options], [body.length, { ...options, maxBodyBytes: body.length }], [700, { ...options, maxBodyBytes: 700 }]]) {
    const bounded = new Verifier(secrets, own);
    for (const [length, expected] of [[bound, accepted], [bound + 1, refused("invalid_payload")]]) {
      const { bytes, signed } = padded(length);
      for (const form of [bytes, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + length), bytes.toString()]) {
        assert.deepEqual(bounded.check(form, signed), expected, `${length} bytes`);
      }
    }
  }
});

test("no header, however large, changes the verdict of the next delivery", async (t) => {
  const long = "x".repeat(2 ** 26);
  const blanks = " ".repeat(2 ** 24);
  const lines = Array(200_000).fill("v1=0");
  for (const [what, changed, expected] of [
    ["signature", { "service-signature": long }, refused("invalid_signature")],
    ["signature of two bytes a character", { "service-signature": "\u0100".repeat(2 ** 24) }, refused("invalid_signature")],
    ["signature of blanks", { "service-signature": blanks }, refused("missing_signature")],
    ["good signature between blanks", { "service-signature": `${blanks}${signature}${blanks}` }, accepted],
    ["good signature, then blanks and more", { "service-signature": `${signature},${blanks}x` }, refused("invalid_signature")],
    ["many lines of signatures", { "service-signature": [...lines, signature] }, refused("invalid_signature")],
    ["timestamp", { "service-timestamp": long }, refused("invalid_timestamp")],
    ["event id", { "service-event-id": long }, refused("event_id_mismatch")],
    ["event id and blanks", { "service-event-id": `${eventId}${blanks}` }, refused("event_id_mismatch")],
    ["many others", Object.fromEntries(lines.map((_, index) => [`x-header-${10_000_000 + index}`, "x"])), accepted],
  ]) {
    await t.test(what, () => {
      assert.deepEqual(verifier.check(body, { ...headers, ...changed }), expected);
      assert.deepEqual(verifier.check(body, headers), accepted);
    });
  }
});

test("sixteen kilobytes of signatures are looked at, with blanks around them or without", () => {
  const most = `${signature},`.padEnd(16_384, "x");
  for (const [value, expected] of [
    [most, accepted],
    [`\t${most} `, accepted],
    [`${most}x`, refused("invalid_signature")],
    [`${most.slice(0, -1)}é`, refused("invalid_signature")],
  ]) {
    assert.deepEqual(verifier.check(body, { ...headers, "service-signature": value }), expected);
  }
});

test("a trap in the core does not reach the next delivery", () => {
  // A stack that is all but used up ends the core in the middle of a call, wherever that is.
  let traps = 0;
  const deep = () => {
    try {
      deep();
    } catch {
      // on the way up there is a little more room each time
    }
    try {
      assert.deepEqual(verifier.check(body, headers), accepted);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      traps += 1;
    }
  };
  deep();
  assert.ok(traps > 0);
  assert.deepEqual(verifier.check(body, headers), accepted);
});
