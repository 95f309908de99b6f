// The package in Workers: bundled by wrangler as `deploy` would, and by esbuild alone, then run in workerd. How the
// modules run there without a bundler is tested beside the package (`test/workerd.test.mjs`). The edge receiver is no
// consumer of the package; it is here because wrangler is.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { Miniflare } from "miniflare";
import { judged } from "./apps/judge.mjs";
import { apps, consumers, run, temporaryFolder, vectors } from "./running.mjs";

/** Before June 2025 a Worker may not compile WebAssembly even while it starts. */
const COMPATIBILITY_DATES = ["2024-09-01", "2026-04-01"];

const edgeReceiver = fileURLToPath(new URL("../../edge-receiver", import.meta.url));
const SECRET = `whsec_${"consumer01".repeat(4)}`;

test("wrangler deploy --dry-run, in workerd", async (t) => {
  const outdir = temporaryFolder(t);
  await deployDry(t, `${apps}/worker`, outdir);
  await judgeIn(t, outdir);
});

test("the edge receiver by its own configuration: wrangler deploy --dry-run, in workerd", async (t) => {
  const outdir = temporaryFolder(t);
  const printed = await deployDry(t, edgeReceiver, outdir);
  for (const binding of ["INBOX (EventInbox)", "RECONCILIATION (Reconciliation)", "DEDUP_RECORDS"]) {
    assert.ok(printed.includes(`env.${binding}`), `${binding} is not bound:\n${printed}`);
  }
  const runtime = new Miniflare({
    modules: modulesIn(outdir),
    compatibilityDate: COMPATIBILITY_DATES.at(-1),
    cf: false,
    bindings: { SIGNING_SECRET: SECRET },
    kvNamespaces: ["DEDUP_RECORDS"],
    durableObjects: {
      INBOX: { className: "EventInbox", useSQLite: true },
      RECONCILIATION: { className: "Reconciliation", useSQLite: true },
    },
  });
  t.after(() => runtime.dispose());
  for (const code of ["ok", "duplicate"]) {
    const response = await runtime.dispatchFetch("http://worker/webhooks", delivery());
    assert.deepEqual([response.status, await response.json()], [200, { code }]);
  }
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

/** What wrangler prints. */
function deployDry(t, cwd, outdir) {
  const wrangler = `${consumers}node_modules/wrangler/bin/wrangler.js`;
  const env = { XDG_CONFIG_HOME: temporaryFolder(t), WRANGLER_LOG_PATH: temporaryFolder(t) };
  return run(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", outdir], { cwd, env });
}

function modulesIn(outdir) {
  const names = readdirSync(outdir);
  return [
    ...names.filter((name) => name.endsWith(".js")).map((path) => ({ path, type: "ESModule" })),
    ...names.filter((name) => name.endsWith(".wasm")).map((path) => ({ path, type: "CompiledWasm" })),
  ].map((module) => ({ ...module, contents: readFileSync(join(outdir, module.path)) }));
}

/** A delivery, signed now. */
function delivery() {
  const body = JSON.stringify({
    id: "evt_1",
    type: "webhook.test",
    api_version: "2026-09-01",
    created_at: "2026-09-01T12:00:00.000Z",
    merchant: { id: "mer_1", slug: "a" },
    data: { object: {} },
  });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const digest = createHmac("sha256", SECRET).update(`${timestamp}.${body}`).digest("hex");
  const headers = {
    "content-type": "application/json",
    "service-event-id": "evt_1",
    "service-timestamp": timestamp,
    "service-signature": `v1=${digest}`,
  };
  return { method: "POST", headers, body };
}

async function judgeIn(t, outdir) {
  const modules = modulesIn(outdir);
  for (const compatibilityDate of COMPATIBILITY_DATES) {
    const runtime = new Miniflare({ modules, compatibilityDate, cf: false });
    t.after(() => runtime.dispose());
    const response = await runtime.dispatchFetch("http://worker/", { method: "POST", body: readFileSync(vectors) });
    assert.deepEqual(await response.json(), judged, compatibilityDate);
  }
}
