// The programs that are printed in the package's README.

import { readFileSync } from "node:fs";

const readme = readFileSync(new URL("../node_modules/verify-wasm/README.md", import.meta.url), "utf8");

/** The programs of a section, in order; `heading` is the text of its heading, of the second or third rank. */
export function programs(heading) {
  const [, section] = readme.split(new RegExp(`^##+ ${heading}$`, "m"));
  const [own] = section.split(/^##/m);
  return [...own.matchAll(/^```js\n([^]*?)^```/gm)].map(([, program]) => program);
}
