// Entry point of Node (ES modules and CommonJS), Bun, Deno and bundlers: the module is part of the code, so there
// is no file to find and nothing to await.

import { contractVersion, start } from "./core.js";
import { explainText } from "./explain-text.js";
import { provideExplainer } from "./explainer.js";
import { base64 } from "./generated/base64.js";
import { inlinedModule } from "./inlined.js";

start(inlinedModule(base64));
provideExplainer(() => inlinedModule(explainText()));

/** The version of the SDK contract that this package fulfils. */
export const CONTRACT_VERSION: string = contractVersion();

export * from "./exports.js";
