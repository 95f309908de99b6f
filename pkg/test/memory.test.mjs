// What stays in the core's memory: nothing of a large delivery, and nothing of a secret but what verifies.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

/** The instances that the package makes, in order. */
const instances = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = function (...parameters) {
  const instance = new Instance(...parameters);
  instances.push(instance);
  return instance;
};
const { Verifier, sign } = await import("verify-wasm");

const MIB = 1024 * 1024;
const SECRET = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
const text = (length) => JSON.stringify({
  id: "evt_1",
  type: "webhook.test",
  api_version: "2026-09-01",
  created_at: "2026-09-01T12:00:00.000Z",
  merchant: { id: "mer_1", slug: "a" },
  data: { object: {} },
}).padEnd(length);

const memoryBytes = () => instances.at(-1).exports.memory.buffer.byteLength;

test("memory that a large delivery took is given back, and nothing is taken anew for those of the service", () => {
  const verifier = new Verifier(SECRET);
  const small = Buffer.from(text(256 * 1024));
  const headers = sign(SECRET, small);
  const large = Buffer.from(text(16 * MIB));
  const signed = sign(SECRET, large);
  for (const [body, those, expected] of [
    [large, signed, undefined],
    [large.toString(), signed, undefined],
    [large, headers, "invalid_signature"],
    [large, {}, "invalid_timestamp"],
    [`${large.toString().slice(0, -1)}}`, {}, "invalid_timestamp"],
  ]) {
    assert.equal(verifier.check(body, those).code, expected);
    assert.ok(memoryBytes() <= 4 * MIB, `${memoryBytes()} bytes`);
    if (expected === undefined) assert.equal(verifier.verifyEnvelope(body, those).id, "evt_1");
    assert.ok(memoryBytes() <= 4 * MIB, `${memoryBytes()} bytes`);
    assert.equal(verifier.check(small, headers).ok, true);
  }
  const made = instances.length;
  for (let round = 0; round < 50; round += 1) assert.equal(verifier.check(small, headers).ok, true);
  assert.equal(instances.length, made);
});

test("a verifier that was made before still verifies in a new instance, in turns with others", () => {
  const [first, second] = ["whsec_first", "whsec_second"].map((secret) => ({ secret, verifier: new Verifier(secret) }));
  const large = text(5 * MIB);
  for (const { secret, verifier } of [first, second, second, first, first]) {
    assert.equal(verifier.check(large, sign(secret, large)).ok, true);
    for (const one of [first, second]) {
      const body = text(200);
      assert.equal(one.verifier.check(body, sign(one.secret, body)).ok, true);
      assert.equal(one.verifier.check(body, sign(`${one.secret}s`, body)).code, "invalid_signature");
    }
  }
});

/** Where in the core's memory these bytes stand. */
function found(memory, bytes) {
  const at = Buffer.from(memory.buffer).indexOf(Buffer.from(bytes));
  return at < 0 ? null : at;
}

test("the core wipes what it made of a secret on the way", () => {
  const module = new WebAssembly.Module(readFileSync(new URL("node_modules/verify-wasm/dist/esm/core.wasm", import.meta.url)));
  const EXCHANGE = 2;
  const KEPT = 128;
  for (const [what, secret, usable] of [
    ["usual", SECRET, 1],
    ["as long as may be", `whsec_${"Secret1".repeat(80).slice(0, 506)}`, 1],
    ["unusable", `${SECRET}\n`, 0],
    ["unusable, and longer than any that is usable", `whsec_${"Geheim\u00e91".repeat(63)}`, 0],
  ]) {
    const { exports: core } = new Instance(module);
    core.reserve(0);
    const exchange = core.place(EXCHANGE);
    const bytes = Buffer.from(secret);
    new Uint8Array(core.memory.buffer).set(bytes, exchange);
    assert.equal(core.prepare(bytes.length), usable, what);
    // What is handed out stands in its place until the caller has taken it.
    const handed = Buffer.from(new Uint8Array(core.memory.buffer, exchange, KEPT));
    new Uint8Array(core.memory.buffer).fill(0, exchange, exchange + KEPT);
    const part = bytes.subarray(0, 16);
    assert.equal(found(core.memory, part), null, `${what}: the text`);
    assert.equal(found(core.memory, bytes.subarray(-16)), null, `${what}: its end`);
    for (const mask of [0x36, 0x5c]) {
      assert.equal(found(core.memory, part.map((byte) => byte ^ mask)), null, `${what}: a pad, ${mask}`);
    }
    if (usable === 1) {
      for (let word = 0; word < 64; word += 4) {
        const bigEndian = handed.subarray(word, word + 4);
        assert.equal(found(core.memory, bigEndian), null, `${what}: part of a state`);
        assert.equal(found(core.memory, Buffer.from(bigEndian).reverse()), null, `${what}: part of a state, as a number`);
      }
    }
  }
});
