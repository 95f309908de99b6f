// Entry point of browsers and of bundles for them: as `index.ts`, but without the module behind `explain`, which would
// make every page three times as heavy. `import "verify-wasm/explain"` brings it.

import { contractVersion, start } from "./core.js";
import { base64 } from "./generated/base64.js";
import { inlinedModule } from "./inlined.js";

start(inlinedModule(base64));

/** The version of the SDK contract that this package fulfils. */
export const CONTRACT_VERSION: string = contractVersion();

export * from "./exports.js";
