// Entry point of Node (ES modules and CommonJS), Bun and Deno: as `index.ts`, and the module behind `explain` is read from
// its file when somebody asks for the first time. No bundler sees that file, so none takes it along: a bundle has it when
// the program imports `verify-wasm/explain`.

import { createRequire } from "node:module";
import { contractVersion, start } from "./core.js";
import { base64 } from "./generated/core_base64.js";
import { inlinedModule } from "./inlined.js";
import { explainWith } from "./own-explainer.js";

/** The file that this becomes part of, as its module system names it: a URL, or a path (`bundle.mjs`). */
declare const HERE: string;

start(inlinedModule(base64));
explainWith(() => {
  try {
    // Not imported: an ES module that imports `node:fs` takes 2 ms longer to start.
    const load = createRequire(HERE);
    const { readFileSync } = load("node:fs") as { readFileSync(file: string): Uint8Array<ArrayBuffer> };
    return new WebAssembly.Module(readFileSync(load.resolve("../esm/explain.wasm")));
  } catch {
    return undefined; // bundled, or not allowed to read: `explain` says what to import
  }
});

/** The version of the SDK contract that this package fulfils. */
export const CONTRACT_VERSION: string = contractVersion();

export * from "./exports.js";
