// How many instructions of WebAssembly a verdict takes says nothing about where a signature is wrong.
//
// The package gets a copy of its module in which every instruction adds one to a counter (COUNTED_MODULE, written by
// `cargo xtask test package`); nothing else differs. Counts are exact, so they are compared, not measured. The deliveries
// are verified in full through the package: beside the candidate that is tried there is, in most of them, one that holds,
// so that all have the same verdict and the same way behind the comparison.
//
// What a compiler in the runtime makes of these instructions is not seen here; there is no branch in them to begin with.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const { COUNTED_MODULE } = process.env;
assert.ok(COUNTED_MODULE, "COUNTED_MODULE names no file: run `cargo xtask test package`");
const counted = readFileSync(COUNTED_MODULE);
const shipped = readFileSync(new URL("node_modules/verify-wasm/dist/esm/core.wasm", import.meta.url));

const { Module, Instance } = WebAssembly;
let instructions;
WebAssembly.Module = function (bytes) {
  assert.deepEqual(Buffer.from(bytes), shipped, "the inlined module is the one that was counted");
  return new Module(counted);
};
WebAssembly.Instance = function (...parameters) {
  const instance = new Instance(...parameters);
  ({ instructions } = instance.exports);
  return instance;
};
const { Verifier, sign } = await import("verify-wasm");
Object.assign(WebAssembly, { Module, Instance });

const DIGITS = 64;
const now = () => 1788264000000;
// Short, so that the digest is the core's.
const body = `{"id":"evt_1","type":"webhook.test","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z",\
"merchant":{"id":"mer_1","slug":"a"},"data":{"object":{}}}`;
const SECRETS = ["whsec_a", `whsec_${"b".repeat(43)}`, `whsec_${"c".repeat(200)}`];

/** The verdict of a header, and the instructions it took. */
function count(verifier, headers, signature) {
  const delivery = { ...headers, "Service-Signature": signature };
  const before = instructions.value;
  const result = verifier.check(body, delivery);
  return { verdict: result.ok ? "ok" : result.code, instructions: instructions.value - before };
}

/** The good candidate, then every one that differs from it in one digit, then one that differs in all. */
function probes(good) {
  const other = (digit) => (digit === "0" ? "1" : "0");
  const digits = [...good.slice(3)];
  const wrong = digits.map((digit, at) => `v1=${[...digits.slice(0, at), other(digit), ...digits.slice(at + 1)].join("")}`);
  return [good, ...wrong, `v1=${digits.map(other).join("")}`];
}

function assertAllEqual(counts, expected) {
  assert.ok(counts.length > DIGITS);
  const [first] = counts;
  assert.ok(first.instructions > 0n);
  for (const [at, { verdict, instructions }] of counts.entries()) {
    assert.equal(verdict, expected, `candidate ${at}`);
    assert.equal(instructions, first.instructions, `candidate ${at}`);
  }
}

for (const [index, secret] of SECRETS.entries()) {
  const headers = sign(secret, body, { now });
  const good = headers["Service-Signature"];
  const trusted = [[secret], SECRETS, [...SECRETS].reverse()];

  test(`secret ${index}: beside a candidate that holds, before it or behind it`, () => {
    for (const secrets of trusted) {
      const verifier = new Verifier(secrets, { now });
      for (const order of [(probe) => [probe, good], (probe) => [good, probe], (probe) => [probe, good, probe]]) {
        const counts = probes(good).map((probe) => count(verifier, headers, order(probe).join(",")));
        assertAllEqual(counts, "ok");
      }
    }
  });

  test(`secret ${index}: candidates of which none holds`, () => {
    for (const secrets of trusted) {
      const verifier = new Verifier(secrets, { now });
      const [, ...wrong] = probes(good);
      const counts = wrong.map((probe) => count(verifier, headers, probe));
      assertAllEqual(counts, "invalid_signature");
    }
  });

  test(`secret ${index}: where among twenty the one that holds stands`, () => {
    const verifier = new Verifier(SECRETS, { now });
    const [, wrong] = probes(good);
    const counts = Array.from({ length: 20 }, (_, at) => {
      const candidates = Array.from({ length: 20 }, (_, n) => (n === at ? good : wrong));
      return count(verifier, headers, candidates.join(","));
    });
    for (const one of counts) assert.deepEqual(one, { verdict: "ok", instructions: counts[0].instructions });
  });
}

test("the counter sees what is no secret: one digit less, one candidate more", () => {
  const [secret] = SECRETS;
  const headers = sign(secret, body, { now });
  const good = headers["Service-Signature"];
  const verifier = new Verifier(secret, { now });
  const plain = count(verifier, headers, `${good},${good}`);
  assert.notEqual(count(verifier, headers, `${good},${good.slice(0, -1)}`).instructions, plain.instructions);
  assert.notEqual(count(verifier, headers, `${good},${good},${good}`).instructions, plain.instructions);
});
