// Random and mutated deliveries get the verdict, and valid ones the fields, that they have natively.
//
// `cargo xtask test package` writes the deliveries with their native verdicts (the program `deliveries` of
// `verify-wasm/hardening`, which has compared them with the slow reference) and names the file in DELIVERIES; with
// `cargo xtask prove verify-differential` they are a hundred thousand. Each is tried in every form that `judge.mjs` knows,
// in Node with and without the host's digest, and in workerd with and without Node's compatibility.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { Miniflare } from "miniflare";
import { judgeBy } from "./judge.mjs";
import { workerModules } from "./worker_modules.mjs";

/** As many deliveries as go to a Worker with one request. */
const BATCH = 250;

const { DELIVERIES } = process.env;
assert.ok(DELIVERIES, "DELIVERIES names no file: run `cargo xtask test package`");
const lines = readFileSync(DELIVERIES, "utf8").trimEnd().split("\n");

const worker = `
  import * as verify from "verify-wasm";
  import { judgeBy } from "./judge.mjs";

  const judge = judgeBy(verify);

  export default {
    async fetch(request) {
      const deliveries = (await request.text()).split("\\n").map((line) => JSON.parse(line));
      return Response.json(deliveries.map(judge));
    },
  };
`;

/** Compares the answers to a stretch of the deliveries with what is expected of them. */
function compare(answers, from, seen) {
  for (const [index, answer] of answers.entries()) {
    const { expect, fields } = JSON.parse(lines[from + index]);
    assert.deepEqual(answer, { verdict: expect, fields }, `delivery ${from + index} of ${DELIVERIES}`);
    seen.set(expect, (seen.get(expect) ?? 0) + 1);
  }
}

/** The deliveries must reach every verdict, or the comparison proves little. */
function assertThorough(seen) {
  const total = [...seen.values()].reduce((sum, count) => sum + count, 0);
  console.log(total, Object.fromEntries([...seen].sort()));
  assert.equal(total, lines.length);
  assert.ok(total >= 2000);
  // Fifteen codes, ok, and configurations that are refused.
  assert.equal(seen.size, 17);
}

test("Node", async () => {
  const judge = judgeBy(await import("verify-wasm"));
  const seen = new Map();
  for (let at = 0; at < lines.length; at += 1) compare([judge(JSON.parse(lines[at]))], at, seen);
  assertThorough(seen);
});

test("Node without the host's digest", () => {
  const { getBuiltinModule } = process;
  process.getBuiltinModule = undefined;
  try {
    // The CommonJS copy of the package asks for it once, and remembers that there was none.
    const judge = judgeBy(createRequire(import.meta.url)("verify-wasm"));
    const seen = new Map();
    for (let at = 0; at < lines.length; at += 1) compare([judge(JSON.parse(lines[at]))], at, seen);
    assertThorough(seen);
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
});

for (const compatibilityFlags of [[], ["nodejs_compat"]]) {
  test(["workerd", ...compatibilityFlags].join(" with "), async (t) => {
    const judge = readFileSync(new URL("judge.mjs", import.meta.url), "utf8");
    const modules = workerModules(worker, { "judge.mjs": judge });
    const runtime = new Miniflare({ modules, compatibilityDate: "2026-01-01", compatibilityFlags, cf: false });
    t.after(() => runtime.dispose());
    const seen = new Map();
    for (let at = 0; at < lines.length; at += BATCH) {
      const body = lines.slice(at, at + BATCH).join("\n");
      const response = await runtime.dispatchFetch("http://worker/", { method: "POST", body });
      assert.equal(response.status, 200, `deliveries ${at} to ${at + BATCH}`);
      compare(await response.json(), at, seen);
    }
    assertThorough(seen);
  });
}
