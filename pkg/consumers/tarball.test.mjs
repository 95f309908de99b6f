// What is in the tarball: what belongs there and nothing else, nothing of the machine it was packed on, nothing that
// runs when it is installed, and the same bytes whenever it is packed.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import * as tar from "tar";
import { leaves } from "./exports-map.mjs";
import { run, tarball, temporaryFolder } from "./running.mjs";

/**
 * Each of the two modules is in it as it is and as text, for ES modules and for CommonJS, and the core's text once more in
 * what Node requires; the code, with its sources.
 */
const PACKED_KIB_MAX = 640;

const source = fileURLToPath(new URL("..", import.meta.url));
const checkout = fileURLToPath(new URL("../..", import.meta.url));
/** Entry points of environments that have no CommonJS. */
const ESM_ONLY = ["workerd", "edge-light"];

const files = new Map();
tar.list({
  file: tarball,
  sync: true,
  onReadEntry: (entry) => {
    const chunks = [];
    entry.on("data", (chunk) => chunks.push(chunk));
    entry.on("end", () => files.set(entry.path.replace(/^package\//, ""), Buffer.concat(chunks)));
  },
});
const manifest = JSON.parse(files.get("package.json").toString());

test("the files are those that the sources make, the terms and the README", () => {
  const modules = readdirSync(join(source, "src"), { recursive: true })
    .filter((name) => /\.(ts|js)$/.test(name) && !name.endsWith(".d.ts"))
    .map((name) => name.replace(/\.[jt]s$/, ""));
  const declared = (folder, names) => names.map((name) => `dist/${folder}/${name}.d.ts`);
  const sources = readdirSync(join(source, "src"), { recursive: true })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("generated"))
    .map((name) => `src/${name}`);
  const code = loaded();
  const maps = [...code].filter((name) => !name.includes("/generated/")).map((name) => `${name}.map`);
  const wasm = [...files.keys()].filter((name) => name.endsWith(".wasm"));
  const expected = [
    ...["package.json", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "dist/cjs/package.json"],
    ...declared("esm", modules),
    ...declared("cjs", modules.filter((name) => !ESM_ONLY.includes(name))),
    ...code,
    ...maps,
    ...sources,
    ...wasm,
  ];
  assert.deepEqual([...files.keys()].sort(), expected.sort());
  assert.ok(wasm.length > 0 && wasm.every((name) => name.startsWith("dist/esm/")), String(wasm));
});

/** The JavaScript that the map of entry points leads to, directly or by imports. */
function loaded() {
  const found = new Set();
  const visit = (name) => {
    if (found.has(name)) return;
    found.add(name);
    const text = files.get(name)?.toString();
    assert.ok(text !== undefined, `${name} is imported and not there`);
    for (const [, target] of text.matchAll(/\b(?:from|import|require)\s*\(?\s*["'](\.[^"']+\.js)["']/g)) {
      visit(join(dirname(name), target));
    }
  };
  for (const { file } of leaves.filter((leaf) => leaf.file.endsWith(".js"))) visit(file.slice("./".length));
  return found;
}

/** What a file imports of the package's own, in the order of the alphabet. */
function importedBy(name) {
  const imported = [...files.get(name).toString().matchAll(/\b(?:from|import|require)\s*\(?\s*["'](\.[^"']+)["']/g)];
  return [...new Set(imported.map(([, target]) => target))].sort();
}

test("an entry point that brings the core is one file, and the module's text lies beside it or in it", () => {
  const [text, later] = ["./generated/core_base64.js", ["./explain.js", "./receiver.js"]];
  for (const name of ["index", "node"]) assert.deepEqual(importedBy(`dist/esm/${name}.js`), ["./explainer.js", text], name);
  assert.deepEqual(importedBy("dist/cjs/index.js"), [later[0], text, later[1]]);
  assert.deepEqual(importedBy("dist/cjs/node.js"), later);
});

test("what is required loads one file until somebody asks for more", async () => {
  const program = `
    const { Verifier, createReceiver } = require("verify-wasm");
    const loaded = () => Object.keys(require.cache).map((name) => name.replace(/^.*verify-wasm.dist./, ""));
    const said = [loaded()];
    new Verifier("whsec_x").check("{}", {});
    said.push(loaded());
    try { createReceiver({}); } catch {}
    new Verifier("whsec_x").explain("{}", {});
    console.log(JSON.stringify([...said, loaded()]));`;
  const first = ["cjs/node.js"];
  const all = [...first, "cjs/receiver.js", "cjs/explain.js", "cjs/explainer.js"];
  assert.deepEqual(JSON.parse(await run(process.execPath, ["--eval", program])), [first, first, all]);
});

test("the code can be read: no long lines, names as in the sources, and maps that lead to them", () => {
  for (const name of [...files.keys()].filter((name) => name.endsWith(".js") && !name.includes("/generated/"))) {
    const text = files.get(name).toString();
    const [, mapName] = text.match(/\n\/\/# sourceMappingURL=(.+)\n?$/);
    const map = JSON.parse(files.get(join(dirname(name), mapName)));
    for (const source of map.sources) assert.ok(files.has(join(dirname(name), source)), `${name}: ${source}`);
    const lines = text.split("\n").filter((line) => name !== "dist/cjs/node.js" || !line.startsWith('var base64 = "'));
    for (const line of lines) assert.ok(line.length < 400, `${name}: ${line.slice(0, 80)}`);
  }
  const node = files.get("dist/esm/node.js").toString();
  for (const name of ["VerificationError = class ", "VerifiedEnvelope", "function deliveryHeaders("]) {
    assert.ok(node.includes(name), name);
  }
});

test("tools that know no map of entry points find the main entry, its browser form and the types of all", () => {
  assert.deepEqual([manifest.main, manifest.module], ["./dist/cjs/node.js", "./dist/esm/index.js"]);
  assert.equal(manifest.browser, "./dist/cjs/index.js");
  for (const name of [manifest.browser, manifest.main, manifest.module, manifest.types]) assert.ok(files.has(name.slice(2)), name);
  const subpaths = leaves.filter(({ file }) => file.endsWith(".js")).map(({ subpath }) => subpath.slice(2));
  const typed = manifest.typesVersions["*"];
  assert.deepEqual(Object.keys(typed).sort(), [...new Set(subpaths.filter(Boolean))].sort());
  for (const [name] of Object.values(typed)) assert.ok(files.has(name.slice(2)), name);
});

test("a release fills in where it comes from, and is refused without that", async (t) => {
  const folder = temporaryFolder(t);
  const words = [join(source, "release.mjs"), folder];
  const environment = { ...process.env, RELEASE_REPOSITORY: undefined };
  for (const [setting, said] of [
    [undefined, /RELEASE_REPOSITORY is not set/],
    ["", /RELEASE_REPOSITORY is not set/],
    ["git@example.com:a/b.git", /must be an https URL/],
    ["http://example.com/a/b", /must be an https URL/],
    ["https://example.com", /must be an https URL/],
    ["https://user:password@example.com/a/b", /must be an https URL/],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, words, {
      env: { ...environment, ...(setting === undefined ? {} : { RELEASE_REPOSITORY: setting }) },
      encoding: "utf8",
    });
    assert.equal(status, 1, setting);
    assert.match(stderr, said);
    assert.deepEqual(readdirSync(folder), []);
  }
  const before = readFileSync(join(source, "package.json"));
  const released = (await run(process.execPath, words, { env: { RELEASE_REPOSITORY: "https://example.com/a/b.git" } })).trim();
  let packed;
  tar.list({
    file: released,
    sync: true,
    onReadEntry: (entry) => {
      if (entry.path !== "package/package.json") return entry.resume();
      const chunks = [];
      entry.on("data", (chunk) => chunks.push(chunk));
      entry.on("end", () => (packed = JSON.parse(Buffer.concat(chunks))));
    },
  });
  const { repository, homepage, bugs, ...rest } = packed;
  assert.deepEqual(
    { repository, homepage, bugs },
    {
      repository: { type: "git", url: "git+https://example.com/a/b.git", directory: "pkg" },
      homepage: "https://example.com/a/b#readme",
      bugs: { url: "https://example.com/a/b/issues" },
    },
  );
  assert.deepEqual(rest, manifest);
  assert.ok(readFileSync(join(source, "package.json")).equals(before), "the sources were changed");
});

test("nothing tells of the machine it was packed on", () => {
  for (const [name, content] of files) {
    for (const trace of [checkout, homedir(), "file://"]) {
      assert.ok(!content.includes(trace), `${name} holds ${trace}`);
    }
  }
});

test("nothing is installed beside it, and nothing runs when it is", () => {
  for (const member of ["scripts", "dependencies", "optionalDependencies", "peerDependencies", "bundleDependencies", "bin"]) {
    assert.ok(!(member in manifest), member);
  }
  assert.equal(files.has("binding.gyp"), false); // npm would build one without being asked
});

test("the files that start the core when they are imported are named, and are there", () => {
  for (const name of manifest.sideEffects) assert.ok(files.has(name.slice(2)), name);
  const starting = leaves.filter(({ subpath, file }) => subpath === "." && file.endsWith(".js"));
  for (const { file } of starting) assert.ok(manifest.sideEffects.includes(file), file);
});

test("it can be published with its origin proved", () => {
  assert.deepEqual(manifest.publishConfig, { access: "public", provenance: true });
  assert.equal(manifest.private, undefined);
  assert.equal(manifest.license, "MIT OR Apache-2.0");
});

test("the README names the versions that the consumers run", () => {
  const pinned = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
  const version = (name, parts) => {
    const all = { ...pinned.devDependencies, ...pinned.optionalDependencies };
    return all[name].replace(/^npm:.*@/, "").split(".").slice(0, parts).join(".");
  };
  const readme = files.get("README.md").toString();
  for (const text of [
    `${version("node-22", 2)}, ${version("node-24", 2)}`,
    `Bun ${version("@oven/bun-linux-x64", 2)}, Deno ${version("@deno/linux-x64-glibc", 2)}`,
    `Vite ${version("vite", 1)} `,
    `webpack ${version("webpack", 1)}, esbuild ${version("esbuild", 2)}`,
    `rollup ${version("rollup", 1)} `,
    `wrangler ${version("wrangler", 1)} `,
    `| ${version("next", 2)}, a route`,
    `| ${version("typescript-5", 2)} and ${version("typescript", 2)}, `,
  ]) {
    assert.ok(readme.includes(text), text);
  }
});

test("it stays small", (t) => {
  const kib = statSync(tarball).size / 1024;
  const unpacked = [...files.values()].reduce((sum, content) => sum + content.length, 0) / 1024;
  t.diagnostic(`packed ${kib.toFixed(1)} KiB, unpacked ${unpacked.toFixed(1)} KiB, ${files.size} files`);
  assert.ok(kib <= PACKED_KIB_MAX, `${kib} KiB`);
});

test("packed again, it is the same to the byte", async (t) => {
  const folder = temporaryFolder(t);
  await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], { cwd: source });
  const again = readFileSync(join(folder, readdirSync(folder)[0]));
  assert.ok(again.equals(readFileSync(tarball)));
});
