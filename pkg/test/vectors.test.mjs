// Every vector, through the ES module.

import assert from "node:assert/strict";
import test from "node:test";
import { Verifier, VerificationError } from "verify-wasm";
import vectors from "./vectors.cjs";

test("all vectors get their verdict from check", () => {
  let ran = 0;
  for (const { name, expect, body, headers, secrets, options } of vectors.cases) {
    const result = new Verifier(secrets, options).check(body, headers);
    assert.equal(result.ok ? "ok" : result.code, expect, name);
    if (result.ok) assert.deepEqual(result.event, JSON.parse(body.toString("utf8")), name);
    ran += 1;
  }
  assert.equal(ran, vectors.caseCount);
});

test("verify and verifyEnvelope agree with check", () => {
  for (const { name, expect, body, headers, secrets, options } of vectors.cases) {
    const verifier = new Verifier(secrets, options);
    for (const method of ["verify", "verifyEnvelope"]) {
      let verdict = "ok";
      try {
        verifier[method](body, headers);
      } catch (error) {
        assert.ok(error instanceof VerificationError, `${name}: ${error}`);
        verdict = error.code;
      }
      assert.equal(verdict, expect, `${method}: ${name}`);
    }
  }
});
