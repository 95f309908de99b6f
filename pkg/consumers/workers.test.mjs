// The package in Workers: bundled by wrangler as `deploy` would, and by esbuild alone, then run in workerd. How the
// modules run there without a bundler is tested beside the package (`test/workerd.test.mjs`).

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import * as esbuild from "esbuild";
import { Miniflare } from "miniflare";
import { judged } from "./apps/judge.mjs";
import { apps, consumers, run, temporaryFolder, vectors } from "./running.mjs";

/** Before June 2025 a Worker may not compile WebAssembly even while it starts. */
const COMPATIBILITY_DATES = ["2024-09-01", "2026-04-01"];

test("wrangler deploy --dry-run, in workerd", async (t) => {
  const outdir = temporaryFolder(t);
  const wrangler = `${consumers}node_modules/wrangler/bin/wrangler.js`;
  const env = { XDG_CONFIG_HOME: temporaryFolder(t), WRANGLER_LOG_PATH: temporaryFolder(t) };
  await run(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", outdir], { cwd: `${apps}/worker`, env });
  await judgeIn(t, outdir);
});

test("esbuild with the condition workerd, in workerd", async (t) => {
  const outdir = temporaryFolder(t);
  await esbuild.build({
    entryPoints: [`${apps}/worker/worker.mjs`],
    bundle: true,
    format: "esm",
    conditions: ["workerd"],
    loader: { ".wasm": "copy" },
    outdir,
    logLevel: "silent",
  });
  await judgeIn(t, outdir);
});

async function judgeIn(t, outdir) {
  const names = readdirSync(outdir);
  const modules = [
    ...names.filter((name) => name.endsWith(".js")).map((path) => ({ path, type: "ESModule" })),
    ...names.filter((name) => name.endsWith(".wasm")).map((path) => ({ path, type: "CompiledWasm" })),
  ].map((module) => ({ ...module, contents: readFileSync(join(outdir, module.path)) }));
  for (const compatibilityDate of COMPATIBILITY_DATES) {
    const runtime = new Miniflare({ modules, compatibilityDate, cf: false });
    t.after(() => runtime.dispose());
    const response = await runtime.dispatchFetch("http://worker/", { method: "POST", body: readFileSync(vectors) });
    assert.deepEqual(await response.json(), judged, compatibilityDate);
  }
}
