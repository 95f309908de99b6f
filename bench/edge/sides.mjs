// Who answers. Each side is a Worker of its own; all of them run in one workerd.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SECRET } from "../verify/deliveries.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const workers = `${root}bench/edge/workers`;
const dist = `${root}edge-receiver/dist`;

/** The files that are deployed. */
export const deployed = [`${dist}/worker.js`, `${dist}/index.js`, `${dist}/index_bg.wasm`, ...snippets()];

const storage = (name) => ({
  kvNamespaces: { DEDUP_RECORDS: `${name}-records` },
  durableObjects: { INBOX: { className: "EventInbox", useSQLite: true } },
});

/** The Workers, as Miniflare wants them. */
export const workersToRun = [
  worker("answer", [`${workers}/answer.js`]),
  worker("plain", [`${workers}/plain.js`]),
  worker("known", [`${workers}/known.js`, `${workers}/instant.js`, ...deployed], storage("known")),
  worker("instant", [`${workers}/instant.js`, ...deployed], storage("instant")),
  worker("plain-inbox", [`${workers}/plain-inbox.js`, `${workers}/plain.js`], storage("plain-inbox")),
  worker("edge-receiver", deployed, storage("edge-receiver")),
];

/** What is measured. A side that answers duplicates gets the deliveries of the side before, unless it has its own. */
export const sides = [
  { name: "JavaScript that only answers", worker: "answer", code: "ok" },
  { name: "JavaScript, WebCrypto + JSON.parse", worker: "plain", code: "ok" },
  { name: "edge-receiver, known at once", worker: "known", code: "duplicate", own: true },
  { name: "edge-receiver, stored at once", worker: "instant", code: "ok" },
  { name: "JavaScript, first", worker: "plain-inbox", code: "ok" },
  { name: "JavaScript, duplicate", worker: "plain-inbox", code: "duplicate" },
  { name: "edge-receiver, first", worker: "edge-receiver", code: "ok" },
  { name: "edge-receiver, duplicate", worker: "edge-receiver", code: "duplicate" },
];

function worker(name, files, options = {}) {
  const module = (path) => ({ type: path.endsWith(".wasm") ? "CompiledWasm" : "ESModule", path });
  const configuration = readFileSync(`${root}edge-receiver/wrangler.jsonc`, "utf8");
  return {
    name,
    modules: files.map(module),
    modulesRoot: root,
    compatibilityDate: configuration.match(/"compatibility_date": "([^"]+)"/)[1],
    bindings: { SIGNING_SECRET: SECRET },
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    ...options,
  };
}

function snippets() {
  const folder = `${dist}/snippets`;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => `${file.parentPath}/${file.name}`);
}
