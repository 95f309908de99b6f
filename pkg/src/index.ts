// Entry point of browsers, of bundles for them, and of whatever has no entry of its own. The core is part of the code, so
// there is no file to find and nothing to await. The module behind `explain` is more than twice as large, and only there
// when the program imports `verify-wasm/explain`.

import { contractVersion, start } from "./core.js";
import { base64 } from "./generated/core_base64.js";
import { inlinedModule } from "./inlined.js";

start(inlinedModule(base64));

/** The version of the SDK contract that this package fulfils. */
export const CONTRACT_VERSION: string = contractVersion();

export * from "./exports.js";
