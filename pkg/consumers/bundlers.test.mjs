// The package through the bundlers that its users have: bundled for Node, then run there without `node_modules`.
// What bundlers make for pages is tested in Chromium (`browser.test.mjs`), for Workers in workerd (`workers.test.mjs`).

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import { rollup } from "rollup";
import { build as vite } from "vite";
import { importable } from "./exports-map.mjs";
import { apps, runJudge, temporaryFolder } from "./running.mjs";
import { webpacked } from "./webpacked.mjs";

for (const [entry, format] of [["program.mjs", "esm"], ["program.mjs", "cjs"], ["program.cjs", "cjs"]]) {
  test(`esbuild: ${entry} as ${format}`, async (t) => {
    const outfile = join(temporaryFolder(t), format === "esm" ? "out.mjs" : "out.cjs");
    await esbuild.build({
      entryPoints: [`${apps}/node/${entry}`],
      bundle: true,
      minify: true,
      platform: "node",
      format,
      outfile,
      logLevel: "silent",
    });
    await runJudge(process.execPath, [outfile]);
  });

  test(`webpack: ${entry} as ${format}`, async (t) => {
    const path = temporaryFolder(t);
    const module = format === "esm";
    await webpacked({
      mode: "production",
      target: "node20",
      entry: `${apps}/node/${entry}`,
      output: {
        path,
        filename: module ? "out.mjs" : "out.cjs",
        chunkFormat: module ? "module" : "commonjs",
        module,
        library: { type: module ? "module" : "commonjs2" },
      },
      experiments: { outputModule: module },
    });
    await runJudge(process.execPath, [join(path, module ? "out.mjs" : "out.cjs")]);
  });
}

test("rollup: program.mjs", async (t) => {
  const file = join(temporaryFolder(t), "out.mjs");
  const bundle = await rollup({
    input: `${apps}/node/program.mjs`,
    external: /^node:/,
    plugins: [nodeResolve()],
    onwarn: (warning) => assert.fail(warning.message),
  });
  await bundle.write({ file, format: "esm" });
  await bundle.close();
  await runJudge(process.execPath, [file]);
});

test("Vite: program.mjs, for the server", async (t) => {
  const outDir = temporaryFolder(t);
  await vite({
    root: `${apps}/node`,
    logLevel: "silent",
    ssr: { noExternal: true },
    build: { ssr: "program.mjs", outDir, emptyOutDir: true, rollupOptions: { output: { entryFileNames: "out.mjs" } } },
  });
  await runJudge(process.execPath, [join(outDir, "out.mjs")]);
});

/** A WebAssembly module as base64 begins so; a bundle that contains it has the core inside. */
const CORE = Buffer.from("\0asm\x01\0\0\0").toString("base64").slice(0, 10);
/** Entry points that do nothing by being imported. */
const ADDITIONS = importable.filter((name) => !["verify-wasm", "verify-wasm/explain"].includes(name));

test("nothing is left of the package where nothing of it is used", async () => {
  for (const specifier of ADDITIONS) {
    const output = await bundled(`import ${JSON.stringify(specifier)};`);
    assert.equal(output.trim(), "", specifier);
  }
});

test("adapters and stores do not bring the core along", async () => {
  for (const specifier of ADDITIONS) {
    const output = await bundled(`export * from ${JSON.stringify(specifier)};`);
    assert.ok(output.length > 0 && !output.includes(CORE), specifier);
  }
});

test("the entry that starts the core is never dropped", async () => {
  assert.ok((await bundled('import { Verifier } from "verify-wasm"; new Verifier("");')).includes(CORE));
  assert.ok((await bundled('export { VerificationError } from "verify-wasm";')).includes(CORE));
});

/** What a bundle grows by, in KiB of gzip, in browsers and in Node. The module behind `explain` is in none unless asked for. */
const BUDGETS = [
  { contents: 'import { Verifier } from "verify-wasm"; new Verifier("");', kib: 33 },
  { contents: 'export { createReceiver } from "verify-wasm";', kib: 37 },
  { contents: 'import "verify-wasm/explain"; export { Verifier } from "verify-wasm";', kib: 115 },
  ...ADDITIONS.map((name) => ({ contents: `export * from ${JSON.stringify(name)};`, kib: name.endsWith("/client") ? 12 : 4 })),
];

const EXPLAINED = 'import { Verifier } from "verify-wasm"; export const { code } = new Verifier("").explain("{}", {});';

for (const condition of ["browser", "node"]) {
  test(`a bundle for ${condition} has explain when it asks for it, and says how when it does not`, async (t) => {
    const without = await bundled(EXPLAINED, condition);
    await assert.rejects(imported(t, without), /`import "verify-wasm\/explain"` once/);
    const withIt = await bundled(`import "verify-wasm/explain"; ${EXPLAINED}`, condition);
    assert.equal((await imported(t, withIt)).code, "invalid_secret");
  });
}

test("a bundler that knows no map of entry points, as Parcel does: a bundle without explain", async (t) => {
  const path = temporaryFolder(t);
  writeFileSync(join(path, "entry.mjs"), EXPLAINED);
  for (const target of ["web", "node20"]) {
    await webpacked({
      mode: "production",
      target,
      entry: join(path, "entry.mjs"),
      resolve: { exportsFields: [], modules: [`${apps}/node_modules`] },
      output: { path, filename: `${target}.mjs`, chunkFormat: "module", module: true, library: { type: "module" } },
      experiments: { outputModule: true },
    });
    assert.ok(readFileSync(join(path, `${target}.mjs`)).length < 150_000);
    await assert.rejects(import(pathToFileURL(join(path, `${target}.mjs`))), /`import "verify-wasm\/explain"` once/);
  }
});

/** Written to a file: a module by a `data:` URL has no place from which to import Node's own. */
function imported(t, source) {
  const file = join(temporaryFolder(t), "bundle.mjs");
  writeFileSync(file, source);
  return import(pathToFileURL(file));
}

test("what it adds to a bundle stays within its budget", async (t) => {
  for (const condition of ["browser", "node"]) {
    for (const { contents, kib } of BUDGETS) {
      const grown = gzipSync(await bundled(contents, condition), { level: 9 }).length / 1024;
      t.diagnostic(`${condition}, ${grown.toFixed(1)} KiB: ${contents}`);
      assert.ok(grown <= kib, `${contents} ${grown} KiB`);
    }
  }
});

async function bundled(contents, condition = "browser") {
  const { outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: apps },
    bundle: true,
    minify: true,
    platform: "neutral",
    conditions: [condition],
    external: ["node:*", "cloudflare:*"],
    format: "esm",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0].text;
}
