// `explain` through CommonJS: the whole table.

"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { Verifier } = require("verify-wasm");
const table = require("./explanations.cjs");

test("every case of the table is explained", () => {
  for (const entry of table.cases) {
    const verifier = new Verifier(entry.secrets, entry.options);
    const explanation = verifier.explain(entry.body, entry.headers, { otherSecrets: entry.otherSecrets });
    assert.deepEqual(table.details(explanation), table.expected(entry), entry.name);
  }
});
