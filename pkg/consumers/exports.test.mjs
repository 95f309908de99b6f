// Every path of the map leads to a file with types beside it, and every entry point can be imported, by both module
// systems, in every runtime.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { importable, leaves, manifest } from "./exports-map.mjs";
import { apps, elsewhere, installed, run, runtime } from "./running.mjs";

/** What the package promises to look at, most specific first. */
const CONDITIONS = ["workerd", "edge-light", "browser", "deno", "bun", "node", "require", "default"];

test("every path under every condition leads to a file", () => {
  assert.ok(leaves.length > CONDITIONS.length);
  for (const { subpath, conditions, file } of leaves) {
    assert.ok(existsSync(join(installed, file)), `${subpath} [${conditions}]: ${file} is not in the package`);
  }
});

test("the main entry point knows all conditions, the narrow ones first", () => {
  assert.deepEqual(Object.keys(manifest.exports["."]), CONDITIONS);
});

test("types stand beside every module, under the same conditions and before it", () => {
  for (const [index, { subpath, conditions, file }] of leaves.entries()) {
    if (!file.endsWith(".js")) continue;
    const types = leaves[index - 1];
    assert.deepEqual(types.conditions, [...conditions.slice(0, -1), "types"], `${subpath} [${conditions}]`);
    assert.equal(types.file, file.replace(/\.js$/, ".d.ts"), `${subpath} [${conditions}]`);
  }
});

test("what `require` leads to is CommonJS, everything else is an ES module", () => {
  for (const { subpath, conditions, file } of leaves.filter((leaf) => leaf.file.endsWith(".js"))) {
    const folder = conditions.includes("require") ? "./dist/cjs/" : "./dist/esm/";
    assert.ok(file.startsWith(folder), `${subpath} [${conditions}]: ${file}`);
  }
});

const RUNTIMES = [
  { name: "node", words: [] },
  { name: "node22", words: [] },
  { name: "node24", words: [] },
  { name: "node", words: ["--conditions=browser"] },
  { name: "bun", words: ["run"] },
  { name: "deno", words: ["run", "--cached-only", "--allow-read", "--allow-env"] },
];

for (const { name, words } of RUNTIMES) {
  const skip = name !== "node" && elsewhere;
  test(`every entry point can be imported and required: ${[name, ...words].join(" ")}`, { skip }, async () => {
    const imported = await names(name, words, "import-all.mjs");
    const required = await names(name, words, "import-all.cjs");
    assert.deepEqual(Object.keys(imported), importable);
    for (const specifier of importable) {
      const empty = specifier === "verify-wasm/explain"; // imported for what it does in browsers
      assert.equal(imported[specifier].length === 0, empty, `${specifier}: ${imported[specifier]}`);
      // Some runtimes hand out an ES module to `require`; what only says so is not a name of ours.
      const own = (names) => names.filter((name) => !["__esModule", "default", "module.exports"].includes(name));
      assert.deepEqual(own(required[specifier]), own(imported[specifier]), specifier);
    }
  });
}

async function names(name, words, program) {
  return JSON.parse(await run(runtime(name), [...words, `${apps}/node/${program}`, ...importable]));
}
