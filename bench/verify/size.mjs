// How large the package's main entry is: the module, and the JavaScript that `import` reads to verify with it.
//
// The JavaScript is followed from the entry by its imports, as it is shipped, comments included, and compressed as one.
// The receiver, which the same entry exports, is counted apart: it is none of section 10. The text of the module as
// base64 is not counted beside the module.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { SIZE_MAX } from "./goals.mjs";

const dist = fileURLToPath(new URL("../../pkg/dist/esm/", import.meta.url));
/** What verifying needs; the entry's other exports come on top. */
const VERIFYING = ["verifier.js", "sign.js", "error.js", "inlined.js", "core.js"];

const gzip = (bytes) => gzipSync(bytes, { level: 9 }).length;
const brotli = (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;

function reachable(entries) {
  const found = new Set();
  const visit = (path) => {
    if (found.has(path) || path.endsWith("base64.js")) return;
    found.add(path);
    const source = readFileSync(path, "utf8");
    for (const [, target] of source.matchAll(/^(?:import|export)\s[^"']*from\s+["'](\.[^"']+)["']/gm)) {
      visit(join(dirname(path), target));
    }
  };
  for (const entry of entries) visit(join(dist, entry));
  return Buffer.concat([...found].map((path) => readFileSync(path)));
}

export function printSizes() {
  const module = readFileSync(join(dist, "core.wasm"));
  const glue = reachable(VERIFYING);
  const entry = reachable(["index.js"]);
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
