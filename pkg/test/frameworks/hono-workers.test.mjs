// The adapter of Hono in workerd, where the secret comes with each request.
//
// workerd ends the connection of a request whose body is not read to its end; in production that is the edge's matter.
//
// The Worker gets Hono's modules and the package's as they are installed: what a bundler would resolve is spelled out.

import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { fulfilsTheContract } from "./contract.mjs";
import { BODY_BYTES_MAX, SECRET, send } from "./deliveries.mjs";

const installed = fileURLToPath(new URL("../node_modules/verify-wasm/", import.meta.url));
const { exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
const entry = join(installed, exports["."].workerd.default);
const folder = dirname(entry);
const hono = fileURLToPath(new URL("node_modules/hono/dist", import.meta.url));

const worker = `
  import { Verifier, createReceiver } from "./package/${relative(folder, entry)}";
  import { toHandler, verified } from "./package/adapters/hono.js";
  import { createMemoryStore } from "./package/stores/memory.js";
  import { Hono } from "./hono/index.js";

  const events = [];
  const onEvent = (event) => void events.push(event);
  const store = createMemoryStore();
  const maxBodyBytes = ${BODY_BYTES_MAX};

  const app = new Hono();
  app.all("/receiver", toHandler((c) => createReceiver({ secret: c.env.SIGNING_SECRET, store, onEvent, maxBodyBytes })));
  app.all("/verified", verified((c) => new Verifier(c.env.SIGNING_SECRET), onEvent, { maxBodyBytes }));
  app.get("/seen", (c) => c.json(events));
  export default app;
`;

function modulesOf(root, prefix) {
  const files = readdirSync(root, { recursive: true }).filter((name) => /\.(js|wasm)$/.test(name));
  return files.map((file) => {
    const type = file.endsWith(".wasm") ? "CompiledWasm" : "ESModule";
    return { type, path: `${prefix}/${file}`, contents: readFileSync(join(root, file)) };
  });
}

const own = { uploads: ["receiver", "verified"] };

fulfilsTheContract("Hono in Workers", async (form) => {
  const runtime = new Miniflare({
    modules: [{ type: "ESModule", path: "worker.mjs", contents: worker }, ...modulesOf(folder, "package"), ...modulesOf(hono, "hono")],
    compatibilityDate: "2026-01-01",
    bindings: { SIGNING_SECRET: SECRET },
    cf: false,
  });
  const port = Number((await runtime.ready).port);
  const seen = async () => JSON.parse((await send({ port, path: "/seen" }, { method: "GET" })).text);
  return { port, path: `/${form}`, seen, close: () => runtime.dispose() };
}, own);
