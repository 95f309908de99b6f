// `explain` through the ES module: the whole table, what it does not give away, and what it refuses.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Verifier, sign } from "verify-wasm";
import table from "./explanations.cjs";
import vectors from "./vectors.cjs";

const SECRET = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
const body = JSON.stringify({
  id: "evt_1",
  type: "order.confirmed",
  api_version: "2026-09-01",
  created_at: "2026-09-01T12:00:00.000Z",
  merchant: { id: "mer_1", slug: "a" },
  data: { object: { total: 1250 } },
});

test("every case of the table is explained", () => {
  assert.ok(table.cases.length > 100);
  for (const entry of table.cases) {
    const verifier = new Verifier(entry.secrets, entry.options);
    const explanation = verifier.explain(entry.body, entry.headers, { otherSecrets: entry.otherSecrets });
    assert.deepEqual(table.details(explanation), table.expected(entry), entry.name);
    for (const { evidence, fix } of explanation.causes) {
      assert.match(evidence, /[.)]$/, entry.name);
      assert.match(fix, /[.)]$/, entry.name);
    }
    const result = verifier.check(entry.body, entry.headers);
    assert.equal(explanation.code, result.ok ? "ok" : result.code, entry.name);
  }
});

test("the code is that of check for every vector", () => {
  for (const { name, expect, body, headers, secrets, options } of vectors.cases) {
    const { code, causes } = new Verifier(secrets, options).explain(body, headers);
    assert.equal(code, expect, name);
    assert.equal(causes.length === 0, expect === "ok", name);
  }
});

test("nothing of a secret or a signature is in an explanation", () => {
  for (const entry of table.cases) {
    const { secrets, otherSecrets, headers } = entry;
    const texts = [...secrets, ...otherSecrets].filter((text) => text.length > 30).map((text) => text.replace("whsec_", ""));
    const signature = headers.find(([name]) => name === "Service-Signature")?.[1] ?? "";
    const hidden = [...texts, ...signature.split(/[^0-9A-Za-z+/]+/)].filter((text) => text.length >= 30);
    const told = JSON.stringify(new Verifier(secrets, entry.options).explain(entry.body, headers, { otherSecrets }));
    for (const text of hidden) {
      for (let at = 0; at + 8 <= text.length; at += 1) {
        assert.ok(!told.includes(text.slice(at, at + 8)), entry.name);
      }
    }
  }
});

test("headers are looked at in every form", () => {
  const verifier = new Verifier(SECRET);
  const { "Service-Signature": signature, ...rest } = sign(SECRET, body);
  const renamed = { ...rest, HTTP_SERVICE_SIGNATURE: signature };
  const fetched = new Headers({ ...rest, "X-Service-Signature": signature });
  /** Looks up, and cannot be listed, as structural types allow. */
  const lookup = { get: (name) => fetched.get(name), append() {} };
  function* lines() {
    yield* Object.entries(renamed);
  }
  for (const headers of [renamed, Object.entries(renamed), new Map(Object.entries(renamed)), lines(), fetched, lookup]) {
    const explanation = verifier.explain(body, headers);
    assert.deepEqual(table.summary(explanation), { code: "missing_signature", causes: ["header_renamed"] });
  }
});

test("a body is taken in every form", () => {
  const verifier = new Verifier(SECRET);
  const headers = sign(SECRET, body);
  const bytes = new TextEncoder().encode(`${body}\n`);
  for (const changed of [`${body}\n`, bytes, Buffer.from(bytes), bytes.buffer]) {
    const explanation = verifier.explain(changed, headers);
    assert.deepEqual(table.summary(explanation), { code: "invalid_signature", causes: ["body_newline"] });
  }
  assert.deepEqual(verifier.explain(body, headers), { code: "ok", causes: [] });
  assert.equal(verifier.explain(undefined, headers).code, "missing_body");
  assert.throws(() => verifier.explain(JSON.parse(body), headers), { name: "TypeError", message: /parsed object/ });
});

test("what is handed in for comparison is never trusted", () => {
  const headers = sign("whsec_previous", body);
  const verifier = new Verifier(SECRET);
  const explanation = verifier.explain(body, headers, { otherSecrets: ["whsec_previous"] });
  assert.deepEqual(table.summary(explanation), { code: "invalid_signature", causes: ["other_secret"] });
  assert.equal(verifier.check(body, headers).ok, false);
});

test("options that cannot be meant are refused", () => {
  const verifier = new Verifier(SECRET);
  const headers = sign(SECRET, body);
  for (const options of [null, 5, { otherSecrets: "whsec_a" }, { otherSecrets: [5] }]) {
    assert.throws(() => verifier.explain(body, headers, options), TypeError);
  }
  assert.throws(() => verifier.explain(body, headers, { otherSecrets: Array(9).fill("whsec_a") }), RangeError);
  assert.throws(() => verifier.explain(body, null), TypeError);
});

test("the module imports nothing", () => {
  const source = readFileSync(new URL("node_modules/verify-wasm/dist/esm/explain.wasm", import.meta.url));
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(source)), []);
});

test("the types have exactly the causes that there are", () => {
  const types = readFileSync(new URL("node_modules/verify-wasm/dist/esm/types.d.ts", import.meta.url), "utf8");
  const union = types.match(/export type CauseCode =([^;]*);/)[1];
  assert.deepEqual([...union.matchAll(/"([^"]+)"/g)].map(([, name]) => name), table.causes);
});

test("the README's table has every cause", () => {
  const readme = readFileSync(new URL("node_modules/verify-wasm/README.md", import.meta.url), "utf8");
  const section = readme.split("## Why does my signature not match?")[1].split("\n## ")[0];
  const listed = [...section.matchAll(/`([a-z][a-z_]*_[a-z0-9_]+)`/g)].map(([, name]) => name);
  assert.deepEqual(table.causes.filter((cause) => !listed.includes(cause)), []);
});
