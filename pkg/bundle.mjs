// Makes each entry point that brings the core one file, after the compiler has written `dist`.
//
// An application loads one file faster than twenty-five. The code stays readable, with its names, so that a stack trace
// tells something; source maps lead to `src`, which is shipped. What stays apart: the WebAssembly modules and their texts,
// so that no line of code is 57 KB long; and `explainer.js`, which two entry points share that are loaded side by side.
// Adapters and stores are left as the compiler wrote them: they share code with each other. Files that no entry point
// reaches any more are removed; declarations all stay.

import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const dist = fileURLToPath(new URL("dist/", import.meta.url));
const { exports } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

/** The entry points, and how a file names itself (`node.ts`). */
const FORMATS = {
  esm: {
    entries: ["index", "node", "workerd", "edge-light", "explain-inlined", "client/index"],
    options: { format: "esm", define: { HERE: "import.meta.url" } },
  },
  cjs: {
    entries: ["index", "node", "explain-inlined", "client/index"],
    // The platform makes esbuild write down the exported names where Node looks for them.
    options: { format: "cjs", platform: "node", define: { HERE: "__filename" } },
  },
};

/** Leaves imports of files that stay beside the entry point as they are written. */
const beside = {
  name: "beside",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\.wasm|_base64\.js$|\/explainer\.js$/ }, ({ path }) => ({ path, external: true })),
};

async function bundled(folder) {
  const { entries, options } = FORMATS[folder];
  const { outputFiles } = await esbuild.build({
    entryPoints: entries.map((entry) => join(dist, `esm/${entry}.js`)),
    outdir: join(dist, folder),
    bundle: true,
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    sourcemap: true,
    sourcesContent: false,
    external: ["node:*"],
    plugins: [beside],
    write: false,
    ...options,
  });
  return outputFiles;
}

/** Every JavaScript file in `folder` that the map of entry points leads to, directly or by imports. */
async function reachable(folder) {
  const leaves = (target) => (typeof target === "string" ? [target] : Object.values(target).flatMap(leaves));
  const files = new Set(leaves(exports).filter((file) => file.startsWith(`./dist/${folder}/`) && file.endsWith(".js")));
  const { metafile } = await esbuild.build({
    absWorkingDir: dist,
    entryPoints: [...files].map((file) => file.replace("./dist/", "")),
    bundle: true,
    platform: "node",
    external: ["*.wasm", "*.wasm?module", "cloudflare:*"],
    outdir: "unwritten",
    metafile: true,
    write: false,
  });
  return new Set(Object.keys(metafile.inputs));
}

// All are made before one is written, because they are made of each other's sources.
const made = (await Promise.all(Object.keys(FORMATS).map(bundled))).flat();
for (const { path, contents } of made) writeFileSync(path, contents);

// The package as a whole is ESM; this file makes the one folder CommonJS.
writeFileSync(join(dist, "cjs/package.json"), '{ "type": "commonjs" }\n');

for (const folder of Object.keys(FORMATS)) {
  const used = await reachable(folder);
  for (const name of readdirSync(join(dist, folder), { recursive: true })) {
    const file = relative(dist, join(dist, folder, name));
    if (/\.js(\.map)?$/.test(name) && !used.has(file.replace(/\.map$/, ""))) rmSync(join(dist, file));
  }
}
// A text of base64 has nothing to be mapped.
for (const folder of Object.keys(FORMATS)) {
  for (const name of readdirSync(join(dist, folder, "generated")).filter((name) => name.endsWith(".js"))) {
    const file = join(dist, folder, "generated", name);
    writeFileSync(file, readFileSync(file, "utf8").replace(/\n\/\/# sourceMappingURL=.*\n?$/, "\n"));
    rmSync(`${file}.map`);
  }
}
