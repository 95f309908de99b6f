// Makes each entry point that brings the core one file, after the compiler has written `dist`.
//
// An application loads one file faster than twenty-five. The code stays readable, with its names, so that a stack trace
// tells something; source maps lead to `src`, which is shipped. What stays apart: the WebAssembly modules and their texts,
// so that no line of code is 57 KB long; and `explainer.js`, which two entry points share that are loaded side by side.
// Adapters and stores stay files of their own, since they share code with each other. Files that no entry point reaches
// any more are removed; declarations all stay.
//
// What Node requires is made to start soonest. The core's text is part of it; the receiver and `explain` are files of
// their own, which CommonJS can load in the middle of a call. What else shortens the start is in `quick-start.mjs`.

import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { compiledAtOnce, loadedLater, plainlyExported } from "./quick-start.mjs";

const dist = fileURLToPath(new URL("dist/", import.meta.url));
const { exports } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

/** What stays beside an entry point: it is imported as it is written. */
const BESIDE = /\.wasm|_base64\.js$|\/explainer\.js$/;

/** The entry points, what of them stays apart (but `within` some), how a file names itself (`node.ts`), and what is done with it at the end. */
const FORMATS = {
  esm: {
    entries: ["index", "node", "workerd", "edge-light", "explain-inlined", "client/index"],
    beside: BESIDE,
    within: [],
    options: { format: "esm", define: { HERE: "import.meta.url" } },
    plugins: [],
    finished: compiledAtOnce,
  },
  cjs: {
    entries: ["index", "node", "explain-inlined", "client/index", "receiver", "explain"],
    beside: new RegExp(`${BESIDE.source}|^\\./(receiver|explain)\\.js$`),
    within: ["esm/node.js"],
    // The platform makes esbuild write down the exported names where Node looks for them.
    options: {
      format: "cjs",
      platform: "node",
      define: { HERE: "__filename" },
      // An ES module that assigns to `exports` is what is meant here.
      logOverride: { "commonjs-variable-in-esm": "silent" },
    },
    plugins: [plainlyExported(Object.keys(await import("./dist/esm/exports.js")))],
    finished: (code) => loadedLater(compiledAtOnce(code), ["./receiver.js", "./explain.js", "node:module"]),
  },
};

/** Leaves imports of files that stay beside the entry point as they are written. */
const leaving = (beside, within) => ({
  name: "beside",
  setup: ({ onResolve }) =>
    onResolve({ filter: beside }, ({ path, kind, importer }) =>
      kind === "entry-point" || within.includes(relative(dist, importer)) ? undefined : { path, external: true },
    ),
});

/** A file's text without descriptions, which are in the declarations and in `src`. Lines stay, for the source map. */
const withoutDescriptions = (file) =>
  readFileSync(file, "utf8").replace(/^ *\/\*\*[^]*?\*\/$/gm, (lines) => lines.replace(/.+/g, ""));

const undescribed = {
  name: "undescribed",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/dist\/esm\/.+\.js$/ }, ({ path }) => ({ contents: withoutDescriptions(path) })),
};

async function bundled(folder) {
  const { entries, beside, within, options, plugins, finished } = FORMATS[folder];
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
    plugins: [leaving(beside, within), ...plugins, undescribed],
    write: false,
    ...options,
  });
  return outputFiles.map(({ path, text }) => ({ path, contents: path.endsWith(".js") ? finished(text) : text }));
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

// A text of base64 has nothing to be mapped.
for (const folder of Object.keys(FORMATS)) {
  for (const name of readdirSync(join(dist, folder, "generated")).filter((name) => name.endsWith(".js"))) {
    const file = join(dist, folder, "generated", name);
    writeFileSync(file, readFileSync(file, "utf8").replace(/\n\/\/# sourceMappingURL=.*\n?$/, "\n"));
    rmSync(`${file}.map`);
  }
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
    if (!/\.js(\.map)?$/.test(name)) continue;
    if (!used.has(file.replace(/\.map$/, ""))) rmSync(join(dist, file));
    else if (name.endsWith(".js")) writeFileSync(join(dist, file), withoutDescriptions(join(dist, file)));
  }
}
