// Both ways to the digest give every verdict: the core's own, and the host's, which longer bodies get after a while.
//
// Every vector is verified with blanks behind its body and signed again, so that it is long enough for the host's.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import test from "node:test";
import { cases, valid } from "./vectors.cjs";

const BLANKS = Buffer.alloc(1000, " ");

/** Counts what the package asks of the real function. */
const nodeCrypto = process.getBuiltinModule?.("node:crypto");
let hashed = 0;
if (nodeCrypto?.hash !== undefined) {
  const { hash } = nodeCrypto;
  nodeCrypto.hash = (...parameters) => {
    hashed += 1;
    return hash(...parameters);
  };
}
const { Verifier, sign } = await import("verify-wasm");

const hmac = (secret, timestamp, body) => createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");

/** The vector with a longer body: wherever a header had the digest of the body, it has that of the longer one. */
function lengthened({ name, expect, body, headers, secrets, options }) {
  const longer = Buffer.concat([body, BLANKS]);
  const timestamp = headers["service-timestamp"] ?? "";
  const signature = secrets.filter(Boolean).reduce(
    (header, secret) => header?.replaceAll(hmac(secret, timestamp, body), hmac(secret, timestamp, longer)),
    headers["service-signature"],
  );
  const changed = signature === undefined ? headers : { ...headers, "service-signature": signature };
  return { name, expect, body: longer, headers: changed, secrets, options };
}

const long = cases.filter(({ body }) => body !== null && body.length > 0).map(lengthened);

/** Lets as many deliveries pass as it takes until the host is asked. */
function warmUp(Verifier) {
  const verifier = new Verifier(valid.secrets, valid.options);
  const { body, headers } = lengthened(valid);
  for (let delivery = 0; delivery < 20; delivery += 1) assert.equal(verifier.check(body, headers).ok, true);
}

test("all vectors, lengthened, get their verdict by the host's digest", { skip: nodeCrypto?.hash === undefined }, () => {
  warmUp(Verifier);
  assert.ok(long.length > 100);
  for (const { name, expect, body, headers, secrets, options } of long) {
    const verifier = new Verifier(secrets, options);
    const before = hashed;
    const result = verifier.check(body, headers);
    assert.equal(result.ok ? "ok" : result.code, expect, name);
    if (result.ok) {
      assert.equal(hashed - before, secrets.length, name);
      assert.deepEqual(verifier.verifyEnvelope(body, headers).event, JSON.parse(body.toString()), name);
    }
    // What the headers decide is decided before anything is hashed.
    if (/^(invalid_secret|.*_timestamp|missing_signature)$/.test(expect)) assert.equal(hashed - before, 0, name);
  }
});

test("all vectors, lengthened, get their verdict where the host has no such function", () => {
  const { getBuiltinModule } = process;
  process.getBuiltinModule = undefined;
  try {
    // The CommonJS copy of the package has a state of its own.
    const { Verifier } = createRequire(import.meta.url)("verify-wasm");
    warmUp(Verifier);
    const before = hashed;
    for (const { name, expect, body, headers, secrets, options } of long) {
      const result = new Verifier(secrets, options).check(body, headers);
      assert.equal(result.ok ? "ok" : result.code, expect, name);
    }
    assert.equal(hashed, before);
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
});

test("verifiers with other secrets take turns", () => {
  warmUp(Verifier);
  const secrets = Array.from({ length: 8 }, (_, index) => `whsec_${"abcdefgh"[index].repeat(40)}`);
  const body = Buffer.concat([valid.body, BLANKS]);
  const all = new Verifier(secrets);
  const single = secrets.map((secret) => new Verifier(secret));
  for (const [index, secret] of secrets.entries()) {
    const headers = sign(secret, body);
    assert.equal(all.check(body, headers).ok, true);
    for (const [other, verifier] of single.entries()) {
      const expected = other === index ? { ok: true, event: JSON.parse(body.toString()) } : { ok: false, code: "invalid_signature" };
      assert.deepEqual(verifier.check(body, headers), expected);
      assert.deepEqual(verifier.check(valid.body, sign(secret, valid.body)).ok, other === index);
    }
  }
});
