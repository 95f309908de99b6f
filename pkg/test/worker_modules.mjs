// The installed package as modules of a Worker, the way a bundler with the `workerd` condition would give it.

import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const installed = new URL("node_modules/verify-wasm/", import.meta.url).pathname;
const { exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
const entry = join(installed, exports["."].workerd.default);
const folder = dirname(entry);

/** Miniflare's list of modules: `worker` is the entry's source, and may import "verify-wasm" and `others` by name. */
export function workerModules(worker, others = {}) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.(js|wasm)$/.test(name));
  return [
    { type: "ESModule", path: "worker.mjs", contents: worker },
    ...Object.entries(others).map(([path, contents]) => ({ type: "ESModule", path, contents })),
    ...files.map((file) => {
      // Resolving "verify-wasm" to the entry is what a bundler would do with the condition.
      const path = file === relative(folder, entry) ? "verify-wasm" : file;
      const type = file.endsWith(".wasm") ? "CompiledWasm" : "ESModule";
      return { type, path, contents: readFileSync(join(folder, file)) };
    }),
  ];
}
