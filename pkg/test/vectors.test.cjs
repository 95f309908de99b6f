// Every vector, through CommonJS.

"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { Verifier, VerificationError, sign, CONTRACT_VERSION } = require("verify-wasm");
const vectors = require("./vectors.cjs");

test("all vectors get their verdict from verify", () => {
  let ran = 0;
  for (const { name, expect, body, headers, secrets, options } of vectors.cases) {
    let verdict = "ok";
    try {
      const event = new Verifier(secrets, options).verify(body, headers);
      assert.deepEqual(event, JSON.parse(body.toString("utf8")), name);
    } catch (error) {
      assert.ok(error instanceof VerificationError, `${name}: ${error}`);
      verdict = error.code;
    }
    assert.equal(verdict, expect, name);
    ran += 1;
  }
  assert.equal(ran, vectors.caseCount);
});

test("the same names are exported as from the ES module", async () => {
  const module = await import("verify-wasm");
  assert.deepEqual(Object.keys(require("verify-wasm")).sort(), Object.keys(module).sort());
  assert.equal(CONTRACT_VERSION, "0.2.0");
  assert.equal(typeof sign, "function");
});
