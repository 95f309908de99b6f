// Entry point of Vercel's Edge runtime (also in Next.js), where code may not compile WebAssembly: its bundlers know
// the query `?module` and hand over the compiled module at import.

import module from "./core.wasm?module";
import { contractVersion, start } from "./core.js";
import explainModule from "./explain.wasm?module";
import { explainWith } from "./own-explainer.js";

start(module);
explainWith(() => explainModule);

/** The version of the SDK contract that this package fulfils. */
export const CONTRACT_VERSION: string = contractVersion();

export * from "./exports.js";
