// The package in every runtime that runs programs, from both module systems, without a bundler.

import assert from "node:assert/strict";
import test from "node:test";
import { apps, elsewhere, run, runJudge, runtime } from "./running.mjs";

const NODES = ["node", "node22", "node24"];
const PROGRAMS = ["program.mjs", "program.cjs"];

for (const name of NODES) {
  test(`${name}: deliveries that are far too large have no effect on the next`, { skip: name !== "node" && elsewhere }, async () => {
    assert.deepEqual(JSON.parse(await run(runtime(name), [`${apps}/node/large.mjs`])), {
      "Buffer of 2^31 - 48 bytes": ["invalid_payload", "ok", "ok"],
      "ArrayBuffer of 2^31 bytes": ["invalid_payload", "ok", "ok"],
      "text of 2^28 characters": ["invalid_payload", "ok", "ok"],
      "32 MiB that are verified": ["ok", "invalid_signature", "ok"],
      "a header of 2^26 characters": ["invalid_signature", "ok"],
    });
  });
}

for (const program of PROGRAMS) {
  for (const name of NODES) {
    test(`${name} runs ${program}`, { skip: name !== "node" && elsewhere }, async (t) => {
      t.diagnostic(await run(runtime(name), ["--version"]));
      await runJudge(runtime(name), [`${apps}/node/${program}`]);
    });
  }

  test(`Bun runs ${program}`, { skip: elsewhere }, async (t) => {
    t.diagnostic(await run(runtime("bun"), ["--version"]));
    await runJudge(runtime("bun"), ["run", `${apps}/node/${program}`]);
  });

  test(`Deno runs ${program}`, { skip: elsewhere }, async (t) => {
    t.diagnostic(await run(runtime("deno"), ["--version"]));
    await runJudge(runtime("deno"), ["run", "--cached-only", "--allow-read", `${apps}/node/${program}`]);
  });
}
