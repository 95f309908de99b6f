// The module behind `explain` as text, for CommonJS, where it is read when somebody asks. It stands in for
// `explain-text.ts` there (`bundle.mjs`). Bundlers see the file all the same: they know `require` in functions.

declare function require(path: "./generated/explain_base64.js"): { base64: string };

/** The module as base64. */
export function explainText(): string {
  return require("./generated/explain_base64.js").base64;
}
