// Every vector and every explanation in workerd, through the package's `workerd` condition.
//
// The Worker gets the modules as they lie in the installed package: no bundler, and the runtime compiles the
// `.wasm` file itself, because code in a Worker may not.

import assert from "node:assert/strict";
import test from "node:test";
import { Miniflare } from "miniflare";
import table from "./explanations.cjs";
import vectors from "./vectors.cjs";
import { workerModules } from "./worker_modules.mjs";

const worker = `
  import { CONTRACT_VERSION, Verifier, VerificationError, sign } from "verify-wasm";

  export default {
    async fetch(request) {
      const verdicts = (await request.json()).map(({ body, headers, secrets, tolerance, now }) => {
        const bytes = body === null ? null : Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
        const verifier = new Verifier(secrets, { toleranceSeconds: tolerance, now: () => now });
        const result = verifier.check(bytes, headers);
        return result.ok ? { verdict: "ok", event: result.event } : { verdict: result.code };
      });
      const body = '{"id":"evt_1"}';
      const { status } = new VerificationError(new Verifier("whsec_x").check(body, sign("whsec_x", body)).code);
      return Response.json({ verdicts, status, version: CONTRACT_VERSION });
    },
  };
`;

const explainer = `
  import { Verifier } from "verify-wasm";

  export default {
    async fetch(request) {
      const explanations = (await request.json()).map(({ body, headers, secrets, otherSecrets, tolerance, maxBodyBytes, now }) => {
        const bytes = body === null ? null : Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
        const verifier = new Verifier(secrets, { toleranceSeconds: tolerance, maxBodyBytes, now: () => now });
        return verifier.explain(bytes, headers, { otherSecrets });
      });
      return Response.json(explanations);
    },
  };
`;

test("all vectors get their verdict in workerd", async (t) => {
  const runtime = new Miniflare({ modules: workerModules(worker), compatibilityDate: "2026-01-01", cf: false });
  t.after(() => runtime.dispose());

  const cases = vectors.cases.map(({ body, headers, secrets, options }) => ({
    body: body?.toString("base64") ?? null,
    headers,
    secrets,
    tolerance: options.toleranceSeconds,
    now: options.now(),
  }));
  const response = await runtime.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify(cases) });
  const { verdicts, status, version } = await response.json();

  assert.equal(verdicts.length, vectors.caseCount);
  for (const [index, { name, expect, body }] of vectors.cases.entries()) {
    assert.equal(verdicts[index].verdict, expect, name);
    if (expect === "ok") assert.deepEqual(verdicts[index].event, JSON.parse(body.toString("utf8")), name);
  }
  assert.equal(status, 400);
  assert.equal(version, "0.2.0");
});

test("every case of the table is explained in workerd", async (t) => {
  const runtime = new Miniflare({ modules: workerModules(explainer), compatibilityDate: "2026-01-01", cf: false });
  t.after(() => runtime.dispose());

  const cases = table.cases.map(({ body, headers, secrets, otherSecrets, options }) => ({
    body: body?.toString("base64") ?? null,
    headers,
    secrets,
    otherSecrets,
    tolerance: options.toleranceSeconds,
    maxBodyBytes: options.maxBodyBytes,
    now: options.now(),
  }));
  const response = await runtime.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify(cases) });
  const explanations = await response.json();

  assert.equal(explanations.length, table.cases.length);
  for (const [index, entry] of table.cases.entries()) {
    assert.deepEqual(table.details(explanations[index]), table.expected(entry), entry.name);
  }
});
