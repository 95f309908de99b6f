// The README's section on receivers and stores: what is printed there is run.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test from "node:test";
import { Miniflare } from "miniflare";
import { SECRET, answered, delivery, eventText } from "./deliveries.mjs";
import { folder } from "./folder.mjs";
import { database } from "./postgres-server.mjs";
import { modulesWith } from "./worker.mjs";

const here = new URL(".", import.meta.url).pathname;
const readme = readFileSync(join(here, "../node_modules/verify-wasm/README.md"), "utf8");
const [, section] = readme.match(/^## Receive once([^]*?)^## /m);
const [server, postgres, worker, wrangler, catchUp] = [...section.matchAll(/^```jsc?\w*\n([^]*?)^```/gm)].map(([, code]) => code);

/** Runs a program as a module of this folder, and hands its lines on. */
function run(t, node, source, env) {
  const program = spawn(node, ["--no-warnings", "--input-type=module", "--eval", source], {
    cwd: here,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => program.kill());
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return async () => (await lines.next()).value;
}

const replaced = (source, from, to) => {
  assert.equal(source.split(from).length, 2, from);
  return source.replace(from, to);
};

test("the receiver on Node", async (t) => {
  let source = replaced(server, '"webhooks.db"', JSON.stringify(join(folder(t), "webhooks.db")));
  source = replaced(source, ".listen(3000);", '.listen(0, "127.0.0.1", function () { console.log(this.address().port); });');
  const line = run(t, join(here, "node_modules/node-22/bin/node"), source, { SIGNING_SECRET: SECRET });
  const address = `http://127.0.0.1:${await line()}/`;
  const send = async (request) => fetch(new Request(address, { method: "POST", headers: request.headers, body: await request.text() }));
  assert.deepEqual(await answered(await send(delivery("evt_1"))), [200, "ok"]);
  assert.equal(await line(), "evt_1 order.confirmed");
  assert.deepEqual(await answered(await send(delivery("evt_1"))), [200, "duplicate"]);
  assert.deepEqual(await answered(await send(delivery("evt_2", { secret: "whsec_another" }))), [401, "invalid_signature"]);
});

test("the store in PostgreSQL", async (t) => {
  const source = `${postgres}
    import { createReceiver } from "verify-wasm";
    import { SECRET, answered, delivery } from "./deliveries.mjs";
    const receiver = createReceiver({ secret: SECRET, store, onEvent: ({ id }) => console.log(id) });
    for (let n = 0; n < 2; n += 1) console.log((await answered(await receiver(delivery("evt_1")))).join(" "));
    process.exit();`;
  const line = run(t, process.execPath, source, { DATABASE_URL: await database() });
  assert.deepEqual([await line(), await line(), await line()], ["evt_1", "200 ok", "200 duplicate"]);
});

test("the Worker, with the bindings of the printed configuration", async (t) => {
  const configuration = JSON.parse(wrangler.replace(/^\/\/.*$/gm, ""));
  const [object] = configuration.durable_objects.bindings;
  const useSQLite = configuration.migrations.some(({ new_sqlite_classes: names }) => names.includes(object.class_name));
  const runtime = new Miniflare({
    modules: modulesWith(worker),
    compatibilityDate: configuration.compatibility_date,
    cf: false,
    durableObjects: { [object.name]: { className: object.class_name, useSQLite } },
    kvNamespaces: configuration.kv_namespaces.map(({ binding }) => binding),
    bindings: { SIGNING_SECRET: SECRET },
    handleRuntimeStdio: (stdout) => stdout.resume(),
  });
  t.after(() => runtime.dispose());
  const send = async (request) =>
    runtime.dispatchFetch("http://worker/", { method: "POST", headers: [...request.headers], body: await request.text() });
  assert.deepEqual(await answered(await send(delivery("evt_1"))), [200, "ok"]);
  assert.deepEqual(await answered(await send(delivery("evt_1"))), [200, "duplicate"]);
  const markers = await runtime.getKVNamespace("MARKERS");
  assert.match(await markers.get("evt:evt_1"), /^\d{4}-.*Z$/);
  const { outcome } = await (await runtime.getWorker()).scheduled({ cron: configuration.triggers.crons[0] });
  assert.equal(outcome, "ok");
});

test("catching up", async () => {
  const { catchUp: run } = await import(`data:text/javascript,${encodeURIComponent(catchUp)}`);
  const ids = ["evt_1", "evt_2", "evt_3"];
  const pages = { start: { data: ids.slice(0, 2), next_cursor: "then" }, then: { data: ids.slice(2) } };
  const accepted = [];
  const readPage = async (cursor) => {
    const { data, next_cursor } = pages[cursor];
    return { data: data.map((id) => JSON.parse(eventText(id))), next_cursor };
  };
  assert.equal(await run({ accept: async ({ id }) => accepted.push(id) }, readPage, "start"), "then");
  assert.deepEqual(accepted, ids);
});
