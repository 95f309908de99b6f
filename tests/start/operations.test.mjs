// `docs/operations.md`, from an empty machine to a service that is watched, has another key, was upgraded, and is restored after
// its disk lost the database.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { machine, TIMEOUT } from "./machine.mjs";

const READY = /^\{"ready":true,.*\}$/m;
/** What the doctor says of a database without a fault. */
const SOUND = /^audit +ok +0 findings\b/gm;

test("the way of an operator through docs/operations.md", { timeout: TIMEOUT }, async (t) => {
  const here = await machine(t);
  const chapter = (heading) => here.document("docs/operations.md", heading);
  const shell = here.terminal("operator");
  await shell.run("cargo build --release -p authority\n");
  const built = join(here.clone, "target/release");
  await shell.run(`cd ${built}; sudo install -m 755 authority /usr/bin/authority\n`);

  const first = chapter("First start");
  const from = shell.begin(first.commands());
  const ready = JSON.parse((await shell.until(READY, from)).match(READY)[0]);
  // Where no namespaces can be made, the merchants' listener has another address.
  assert.deepEqual({ ...ready, merchant_api: "" }, { ...first.json(), merchant_api: "" });
  const [operatorKey] = shell.output.match(/\bsvc_op_\w+/);
  assert.equal(await shell.interrupt(), 0);
  assert.match(await shell.run(first.commands()), /ready/);
  first.isDone();

  const api = operatorApi(here.port("8081"), operatorKey);
  const merchants = async () => (await api("GET", "/merchants")).data.map(({ slug }) => slug).sort();
  const create = (slug) => api("POST", "/merchants", { slug, name: slug, default_currency: "EUR" });
  await create("before");
  const [{ id }] = (await api("GET", "/merchants")).data;
  const kept = await api("POST", `/merchants/${id}/api-keys`, { name: "kept", mode: "test", scopes: ["events:read"] });

  const watch = chapter("Health and metrics");
  const shown = await shell.run(watch.commands());
  for (const line of [/^authority_database_up 1$/m, /^authority_writes_unanswered 0$/m, /^# EOF$/m]) assert.match(shown, line);
  watch.isDone();

  await keyIsChanged({ shell, chapter: chapter("Changing the key-encryption key") });

  const keep = chapter("Backup and restore");
  const link = await api("POST", `/merchants/${id}/test/portal-sessions`, { scopes: ["events:read"] });
  const looked = async () => (await fetch(`http://127.0.0.1:${here.port("8080")}${new URL(link.url).pathname}`)).status;
  assert.match(await shell.run(keep.commands()), /^ok$/m);
  assert.equal(await looked(), 200, "looking at a link changes nothing");
  await create("after");
  await api("POST", `/api-keys/${kept.id}/revoke`, { reason: "leaked" });

  const upgrade = chapter("Upgrade");
  const upgraded = await shell.run(`cd ${built}\n${upgrade.commands()}`);
  assert.equal(upgraded.match(SOUND)?.length, 2, upgraded);
  upgrade.isDone();
  assert.deepEqual(await merchants(), ["after", "before"]);

  // The service stops, and the disk has lost the beginning of the file.
  await shell.run("sudo systemctl stop authority\n");
  const database = here.path("/var/lib/authority/authority.db");
  const bytes = readFileSync(database);
  writeFileSync(database, Buffer.concat([Buffer.alloc(8_192, 0x5a), bytes.subarray(8_192)]));
  await assert.rejects(shell.run("authority doctor\n"), /not a database|malformed|FAILED|failed 1/);
  const restore = keep.commands();
  const [stop, ...rest] = restore.split("\n");
  assert.equal(stop, "sudo systemctl stop authority", "it is stopped already");
  assert.match(await shell.run(rest.join("\n")), SOUND);
  // What the old database tells where the disk has lost nothing of it.
  writeFileSync(here.path("/var/lib/authority/before/authority.db"), bytes);
  const since = await shell.run(keep.commands());
  assert.match(since, new RegExp(`^api_keys\\.revoke\\|${kept.id}\\|${id}\\|leaked$`, "m"));
  assert.match(since, /^merchants\.create\|/m);
  await shell.run(keep.commands());
  keep.isDone();
  assert.deepEqual(await merchants(), ["before"]);
  assert.equal(await looked(), 403, "a link from before the restore opens nothing");
});

/** Another key-encryption key, while the service runs; after each step it has taken what it was told. */
async function keyIsChanged({ shell, chapter }) {
  await shell.run(chapter.commands());
  const look = chapter.commands();
  const applied = async (reloads) => {
    const counted = new RegExp(`^authority_config_reloads_total\\{outcome="applied"\\} ${reloads}$`, "m");
    while (!counted.test(await shell.run(look)));
  };
  await applied(1);
  await shell.run(chapter.commands());
  await applied(2);
  const resealed = await shell.run(chapter.commands());
  assert.match(resealed, /^1 moved, 1 under the current key$/m);
  const sound = await shell.run(chapter.commands());
  assert.match(sound, /^keys +ok/m);
  assert.match(sound, SOUND);
  await applied(3);
  chapter.isDone();
}

function operatorApi(port, key) {
  return async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/operator${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { "content-type": "application/json", "idempotency-key": randomUUID() }),
      },
      body: body && JSON.stringify(body),
    });
    const answer = await response.json();
    assert.ok(response.ok, JSON.stringify(answer));
    return answer;
  };
}
