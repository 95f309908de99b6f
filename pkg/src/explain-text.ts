// The module behind `explain` as text, for ES modules: they can only import it beforehand.

import { base64 } from "./generated/explain_base64.js";

/** The module as base64. */
export function explainText(): string {
  return base64;
}
