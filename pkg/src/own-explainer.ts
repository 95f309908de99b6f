// How the entry point gets the module behind `explain`. It is said at every start and asked for hardly ever, so this is
// part of the entry point, and what asks (`explain.ts`, `explainer.ts`) need not be.

import type { Loader } from "./explainer.js";

/** The way of this entry point; `undefined` when it has none. */
export let ownExplainer: Loader | undefined;

/** Says it; called while an entry point is imported. */
export function explainWith(loader: Loader): void {
  ownExplainer = loader;
}
