// Entry point of Node (ES modules and CommonJS), Bun and Deno: as `index.ts`, and the module behind `explain` is read from
// its file when somebody asks for the first time. No bundler sees that file, so none takes it along: a bundle has it when
// the program imports `verify-wasm/explain`.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { contractVersion, start } from "./core.js";
import { provideExplainer } from "./explainer.js";
import { base64 } from "./generated/core_base64.js";
import { inlinedModule } from "./inlined.js";

/** The file that this becomes part of, as its module system names it: a URL, or a path (`bundle.mjs`). */
declare const HERE: string;

start(inlinedModule(base64));
provideExplainer(() => {
  try {
    const here = HERE.startsWith("file:") ? HERE : pathToFileURL(HERE);
    return new WebAssembly.Module(readFileSync(new URL("../esm/explain.wasm", here)));
  } catch {
    return undefined; // bundled, or not allowed to read: `explain` says what to import
  }
});

/** The version of the SDK contract that this package fulfils. */
export const CONTRACT_VERSION: string = contractVersion();

export * from "./exports.js";
