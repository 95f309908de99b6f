// A Worker with the store of this package, as Miniflare's options, and the way to ask that store from here.
//
// Run as a program, it claims evt_1 with its state in the folder that is named, says so, and waits to be killed.

import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { Miniflare } from "miniflare";
import { SECRET } from "./deliveries.mjs";

const installed = new URL("../node_modules/verify-wasm/", import.meta.url).pathname;
const { exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
const entry = join(installed, exports["."].workerd.default);
const folder = dirname(entry);
const stores = join(installed, exports["./stores/workers"].default.default);

const script = `
  import { createReceiver } from "verify-wasm";
  import { ClaimObject, createWorkersStore } from "verify-wasm/stores/workers";

  export { ClaimObject };

  const acted = [];

  export default {
    async fetch(request, env) {
      const { pathname, searchParams } = new URL(request.url);
      const store = createWorkersStore(bindings(env, searchParams.get("place") ?? "", searchParams.has("without-kv")));
      const onEvent = ({ id }, { attempt }) => {
        acted.push(id + " " + attempt);
        if (id === "evt_fails" && attempt === 1) throw new Error("the first time always fails");
      };
      const receiver = () =>
        createReceiver({ secret: env.SECRET, store, onEvent, retryDelaySeconds: 0, onError: () => {} });
      switch (pathname) {
        case "/deliver":
          return receiver()(request);
        case "/retry":
          return Response.json(await receiver().retryPending());
        case "/acted":
          return Response.json(acted);
      }
      const { method, values } = await request.json();
      try {
        const decoded = values.map((value) => {
          if (value?.body !== undefined) return { ...value, body: bytes(value.body) };
          return value?.date === undefined ? value : new Date(value.date ?? NaN);
        });
        const answer = await store[method](...decoded);
        return Response.json(method === "pending" ? answer.map((claim) => ({ ...claim, body: base64(claim.body) })) : answer ?? null);
      } catch (error) {
        return Response.json({ name: error.name, message: error.message }, { status: 500 });
      }
    },
  };

  /** The bindings, with objects and keys of their own for each place, so that one runtime has room for many. */
  const bindings = ({ CLAIMS, MARKERS }, place, withoutKv) => ({
    claims: { idFromName: (name) => CLAIMS.idFromName(place + name), get: (id) => CLAIMS.get(id) },
    markers: withoutKv ? undefined : {
      get: (key) => MARKERS.get(place + key),
      put: (key, value, options) => MARKERS.put(place + key, value, options),
    },
  });
  const bytes = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const base64 = (bytes) => {
    let text = "";
    for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
    return btoa(text);
  };
`;

const files = readdirSync(folder, { recursive: true }).filter((name) => /\.(js|wasm)$/.test(name));

/** A Worker and the package: its names become the files that a bundler would find for them. */
export function modulesWith(worker) {
  const contents = worker
    .replaceAll('from "verify-wasm"', `from "./${relative(folder, entry)}"`)
    .replaceAll('from "verify-wasm/stores/workers"', `from "./${relative(folder, stores)}"`);
  const packaged = files.map((path) => {
    const type = path.endsWith(".wasm") ? "CompiledWasm" : "ESModule";
    return { type, path, contents: readFileSync(join(folder, path)) };
  });
  return [{ type: "ESModule", path: "worker.mjs", contents }, ...packaged];
}

/** What the Worker is made of; its receiver trusts the tests' secret. */
export const options = {
  modules: modulesWith(script),
  compatibilityDate: "2026-01-01",
  cf: false,
  durableObjects: { CLAIMS: { className: "ClaimObject", useSQLite: true } },
  kvNamespaces: ["MARKERS"],
  bindings: { SECRET },
};

/** Where the runtime keeps what it must not forget. */
export function keptIn(state) {
  return { durableObjectsPersist: join(state, "objects"), kvPersist: join(state, "kv") };
}

/** The Worker's store, asked by requests to `runtime`; `query` names a place in it. */
export function remoteStore(runtime, query = "") {
  const ask = async (method, ...values) => {
    const encoded = values.map((value) => {
      if (value?.body instanceof Uint8Array) return { ...value, body: Buffer.from(value.body).toString("base64") };
      return value instanceof Date ? { date: value.getTime() } : value;
    });
    const body = JSON.stringify({ method, values: encoded });
    const response = await runtime.dispatchFetch(`http://worker/ask?${query}`, { method: "POST", body });
    const answer = await response.json();
    if (response.status !== 200) throw Object.assign(new Error(answer.message), { name: answer.name });
    if (method !== "pending") return answer;
    return answer.map((claim) => ({ ...claim, body: new Uint8Array(Buffer.from(claim.body, "base64")) }));
  };
  const methods = ["claim", "takeUp", "complete", "fail", "pending", "purge"];
  return Object.fromEntries(methods.map((method) => [method, (...values) => ask(method, ...values)]));
}

const [, program, state] = process.argv;
if (program === new URL(import.meta.url).pathname) {
  const runtime = new Miniflare({ ...options, ...keptIn(state) });
  const { record } = await import("./conformance.mjs");
  await remoteStore(runtime).claim("evt_1", record(), 0);
  console.log("claimed");
}
