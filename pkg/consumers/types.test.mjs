// The declarations as TypeScript users meet them: every entry point, in every way of resolving modules that knows the
// map of entry points, by two compilers, with the libraries' own declarations checked too, beside those of Node or
// those of the browser. The compiler's own are not checked: what contradicts them is told of the declaration that does.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { importable } from "./exports-map.mjs";
import { apps, consumers, run } from "./running.mjs";

const COMPILERS = ["typescript-5", "typescript"];

const SURROUNDINGS = [
  { name: "Node", lib: ["ES2022"], types: ["node"] },
  { name: "browser", lib: ["ES2022", "DOM", "DOM.Iterable"], types: [] },
];

const ESM = "all.ts";
const CJS = "all.cts";
const RESOLUTIONS = [
  { module: "node16", moduleResolution: "node16", files: [ESM, CJS] },
  { module: "esnext", moduleResolution: "bundler", files: [ESM] },
];
/** As before Node 12; the newer compiler knows it no more. */
const OLD_RESOLUTION = { module: "commonjs", moduleResolution: "node10", files: [CJS] };
/** Left to the compiler that is ten times as fast. */
const MORE_RESOLUTIONS = [
  { module: "nodenext", moduleResolution: "nodenext", files: [ESM, CJS] },
  { module: "esnext", moduleResolution: "bundler", files: [ESM], customConditions: ["workerd"] },
  { module: "esnext", moduleResolution: "bundler", files: [ESM], customConditions: ["edge-light"] },
  { module: "esnext", moduleResolution: "bundler", files: [ESM], customConditions: ["browser"] },
];

const VERIFIES = `
  const id: string = m0.sign("whsec_x", "{}", { eventId: "evt_1" })["Service-Event-Id"];
  const result = new m0.Verifier("whsec_x").check("{}", {});
  export const said: string = result.ok ? result.event.id + id : result.code;
  // @ts-expect-error what has no type here would be accepted
  new m0.Verifier(1);
`;

for (const compiler of COMPILERS) {
  for (const { name, lib, types } of SURROUNDINGS) {
    test(`${compiler}, beside the declarations of ${name}`, async (t) => {
      const folder = mkdtempSync(join(apps, "types-"));
      t.after(() => rmSync(folder, { recursive: true }));
      const all = importable.map((_, index) => `m${index}`).join(", ");
      const written = (line) => `${importable.map(line).join("\n")}\n${VERIFIES}export const all: object[] = [${all}];\n`;
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
      writeFileSync(join(folder, ESM), written((path, index) => `import * as m${index} from "${path}";`));
      writeFileSync(join(folder, CJS), written((path, index) => `import m${index} = require("${path}");`));
      const resolutions = compiler === "typescript" ? [...RESOLUTIONS, ...MORE_RESOLUTIONS] : [...RESOLUTIONS, OLD_RESOLUTION];
      for (const { files, ...resolution } of resolutions) {
        const checked = { strict: true, skipLibCheck: false, skipDefaultLibCheck: true };
        const compilerOptions = { target: "ES2022", lib, types, noEmit: true, ...checked, ...resolution };
        writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
        await complete(compiler, folder);
      }
    });
  }
}

/** Compiles; what the compiler complains of becomes the message. */
async function complete(compiler, folder) {
  try {
    await run(process.execPath, [`${consumers}node_modules/${compiler}/bin/tsc`, "--project", folder]);
  } catch (error) {
    throw new Error(error.stdout);
  }
}
