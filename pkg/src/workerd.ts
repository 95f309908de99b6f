// Entry point of Cloudflare Workers, where code may not compile WebAssembly: the runtime does it, at import.

import module from "./core.wasm";
import { contractVersion, start } from "./core.js";
import explainModule from "./explain.wasm";
import { explainWith } from "./own-explainer.js";

start(module);
explainWith(() => explainModule);

/** The version of the SDK contract that this package fulfils. */
export const CONTRACT_VERSION: string = contractVersion();

export * from "./exports.js";
