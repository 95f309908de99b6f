// What is in the WebAssembly that is shipped, and what is not: the whole of each module's borders, and its strings.
//
// A module that imports nothing can reach no clock, no network and no randomness; all it can do is answer. Panics trap
// without a message. That the core holds no message shows that no code is left which could format one; of what can trap
// there remain running out of memory and two slices inside libraries, which their source paths give away.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";

const dist = new URL("node_modules/verify-wasm/dist/", import.meta.url).pathname;
const files = readdirSync(dist, { recursive: true });
const modules = new Map(files.filter((name) => name.endsWith(".wasm")).map((name) => [name, readFileSync(join(dist, name))]));

/** The linker's own. */
const LAYOUT = ["global __data_end", "global __heap_base", "memory memory"];
const EXPORTS = {
  "esm/core.wasm": ["admit", "configure", "facts", "place", "prepare", "reserve", "sign", "status", "verify"],
  "esm/explain.wasm": ["explain_address", "explain_reserve", "explain_run"],
};

/** Everything together, compressed (contract A24). */
const GZIP_MAX = 150 * 1024;

/** Parts of what Rust says when it panics. */
const PANIC_MESSAGES = [
  "panicked",
  "index out of bounds",
  "out of range for slice",
  "slice index starts at",
  "char boundary",
  "called `",
  "unwrap()",
  "unreachable code",
  "assertion",
  "capacity overflow",
  "with overflow",
  "divide by zero",
  "copy_from_slice",
  "memory allocation of",
  "RefCell",
];

/** A path of a Rust source, as the place of a panic is written down. */
const SOURCE = /[\w./+-]*\/[\w./+-]+\.rs/g;

test("there are these modules, and no other is inlined", () => {
  assert.deepEqual([...modules.keys()].sort(), Object.keys(EXPORTS));
  const inlined = new Set();
  for (const name of files.filter((name) => name.endsWith(".js"))) {
    // Base64 of a module begins with that of its magic number.
    for (const [, base64] of readFileSync(join(dist, name), "utf8").matchAll(/["'`](AGFzbQ[\w+/=]+)["'`]/g)) {
      const bytes = Buffer.from(base64, "base64");
      const same = [...modules].find(([, module]) => module.equals(bytes));
      assert.ok(same, `${name} holds a module that is none of the files`);
      inlined.add(same[0]);
    }
  }
  assert.deepEqual([...inlined].sort(), Object.keys(EXPORTS));
});

for (const [name, functions] of Object.entries(EXPORTS)) {
  test(`${name} imports nothing and exports what is known`, () => {
    const module = new WebAssembly.Module(modules.get(name));
    assert.deepEqual(WebAssembly.Module.imports(module), []);
    const exported = WebAssembly.Module.exports(module).map(({ kind, name }) => `${kind} ${name}`);
    assert.deepEqual(exported.sort(), [...functions.map((name) => `function ${name}`), ...LAYOUT].sort());
  });

  test(`${name} says nothing of how and where it was built`, () => {
    const module = new WebAssembly.Module(modules.get(name));
    for (const section of ["name", "producers", "sourceMappingURL", "target_features", ".debug_info"]) {
      assert.deepEqual(WebAssembly.Module.customSections(module, section), [], section);
    }
    // Paths of libraries are written from the registry on, those of the project from its root.
    for (const [path] of modules.get(name).toString("latin1").matchAll(SOURCE)) {
      assert.match(path, /^(\/rustc\/[0-9a-f]{40}\/library\/|\/cargo\/registry\/src\/|verify-wasm\/)/);
    }
  });
}

test("the core has no panic message, and can panic in two known places", () => {
  const text = modules.get("esm/core.wasm").toString("latin1");
  assert.deepEqual(PANIC_MESSAGES.filter((message) => text.includes(message)), []);
  const places = [...text.matchAll(SOURCE)].map(([path]) => path.replace(/^.*?\/(library|sha2-[\d.]+)\//, ""));
  // Sorting names, and the message schedule of SHA-256: both cut slices at lengths that are right by construction.
  assert.deepEqual(places.sort(), ["core/src/slice/index.rs", "src/sha256/wasm32_simd128.rs"]);
});

test("everything together is smaller than it may be", () => {
  const size = [...modules.values()].reduce((sum, module) => sum + gzipSync(module).length, 0);
  console.log(Object.fromEntries([...modules].map(([name, module]) => [name, gzipSync(module, { level: 9 }).length])), "bytes, gzip -9");
  assert.ok(size < GZIP_MAX, `${size} bytes`);
});
