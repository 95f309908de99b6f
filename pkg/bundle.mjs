// Makes each entry point that brings the core one small file, after the compiler has written `dist`.
//
// An application loads one file faster than twenty-five, and reads no comments in it. What stays apart: the WebAssembly
// modules and the text of the one behind `explain`, which few programs need; and what two files share that can be
// loaded side by side (`explainer.js` in browsers). Adapters and stores are left as the compiler wrote them: they
// share code with each other. Files that no entry point reaches any more are removed; declarations all stay.

import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const dist = fileURLToPath(new URL("dist/", import.meta.url));
const { exports } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

const FORMATS = {
  esm: { entries: ["index", "browser", "workerd", "edge-light", "explain-inlined"], options: { format: "esm" } },
  // The platform makes esbuild write down the exported names where Node looks for them.
  cjs: { entries: ["index", "browser", "explain-inlined"], options: { format: "cjs", platform: "node" } },
};
/** Entry points that can be loaded side by side and must then share `explainer.js`. */
const SHARING = ["browser", "explain-inlined"];

/** Leaves these imports as they are written: all of them name files beside the entry point. */
function beside(pattern) {
  return {
    name: "beside",
    setup: ({ onResolve }) => onResolve({ filter: pattern }, ({ path }) => ({ path, external: true })),
  };
}

/** CommonJS can read the text when it is asked for. */
const late = {
  name: "late",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/explain-text\.js$/ }, () => ({ path: join(dist, "esm/explain-text-late.js") })),
};

async function bundled(entry, folder, options) {
  const kept = SHARING.includes(entry) ? /\.wasm|explain_base64\.js$|\/explainer\.js$/ : /\.wasm|explain_base64\.js$/;
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(dist, `esm/${entry}.js`)],
    bundle: true,
    minify: true,
    target: "es2022",
    legalComments: "none",
    plugins: [beside(kept), ...(folder === "cjs" ? [late] : [])],
    write: false,
    ...options,
  });
  return { file: join(dist, folder, `${entry}.js`), contents: outputFiles[0].contents };
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
const made = await Promise.all(
  Object.entries(FORMATS).flatMap(([folder, { entries, options }]) => entries.map((entry) => bundled(entry, folder, options))),
);
for (const { file, contents } of made) writeFileSync(file, contents);

for (const folder of Object.keys(FORMATS)) {
  const used = await reachable(folder);
  for (const name of readdirSync(join(dist, folder), { recursive: true })) {
    const file = join(dist, folder, name);
    if (name.endsWith(".js") && !used.has(relative(dist, file))) rmSync(file);
  }
}
