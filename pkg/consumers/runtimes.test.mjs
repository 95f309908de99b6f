// The package in every runtime that runs programs, from both module systems, without a bundler.

import test from "node:test";
import { apps, elsewhere, run, runJudge, runtime } from "./running.mjs";

const NODES = ["node", "node22", "node24"];
const PROGRAMS = ["program.mjs", "program.cjs"];

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
