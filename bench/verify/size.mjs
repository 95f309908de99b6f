// How large the package's main entry is: the module, and the JavaScript that an application carries to verify with it.
//
// The JavaScript is what a bundler takes from the shipped entry, as it takes it: without the exports that are not used.
// The receiver, which the same entry exports, is counted apart: it is none of section 10. The text of the module as
// base64 is not counted beside the module.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { SIZE_MAX } from "./goals.mjs";

const pkg = fileURLToPath(new URL("../../pkg/", import.meta.url));
// The package is made with it.
const esbuild = createRequire(pkg)("esbuild");

const gzip = (bytes) => gzipSync(bytes, { level: 9 }).length;
const brotli = (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;

/** What stays of the entry for browsers when only `exports` are used. */
function used(exports) {
  const { outputFiles } = esbuild.buildSync({
    stdin: { contents: `export ${exports} from "./dist/esm/index.js";`, resolveDir: pkg },
    bundle: true,
    minify: true,
    target: "es2022",
    format: "esm",
    write: false,
  });
  const module = readFileSync(`${pkg}dist/esm/core.wasm`).toString("base64");
  const parts = outputFiles[0].text.split(module);
  if (parts.length !== 2) throw new Error(`the module is in the bundle ${parts.length - 1} times`);
  return Buffer.from(parts.join(""));
}

export function printSizes() {
  const module = readFileSync(`${pkg}dist/esm/core.wasm`);
  const glue = used("{ Verifier, VerificationError, sign }");
  const entry = used("*");
  const inlined = Buffer.from(module.toString("base64"));
  console.log("\nSize in bytes:\n");
  console.log("| | as it is | gzip | brotli |\n|---|---:|---:|---:|");
  const row = (name, bytes) => console.log(`| ${name} | ${bytes.length} | ${gzip(bytes)} | ${brotli(bytes)} |`);
  row("WebAssembly", module);
  row("JavaScript that verifies and signs", glue);
  row("JavaScript of the whole main entry", entry);
  row("the module as base64 text", inlined);
  const total = gzip(module) + gzip(glue);
  console.log(`\nWebAssembly + glue, gzip: ${total} (at most ${SIZE_MAX}) ${total <= SIZE_MAX ? "reached" : "MISSED"}`);
}
