// SQLite: through a driver with the interface of better-sqlite3 on this Node, and through node:sqlite on one that has it.
//
// better-sqlite3 itself is no package of these tests, because it has to be compiled where its download is not reached;
// libsql has the same interface and comes with its binary.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import test from "node:test";
import { createSqliteStore } from "verify-wasm/stores/sqlite";
import { agreesWithMemory } from "./agreement.mjs";
import { conformance, largePurge, record } from "./conformance.mjs";
import { folder } from "./folder.mjs";
import { driver, open } from "./places.mjs";
import { betweenProcesses } from "./processes.mjs";

const file = (name) => new URL(name, import.meta.url).pathname;
const node22 = file("node_modules/node-22/bin/node");

const place = (t) => {
  const address = join(folder(t), "claims.db");
  const opened = [];
  t.after(() => opened.forEach(({ close }) => close()));
  const another = () => {
    opened.push(open.libsql(address));
    return opened.at(-1).store;
  };
  return { address, another };
};
conformance("better-sqlite3's interface", (t) => place(t).another);
largePurge("better-sqlite3's interface", (t) => place(t).another);
agreesWithMemory("better-sqlite3's interface", (t) => place(t).another);
betweenProcesses("better-sqlite3's interface", "libsql", place);

test("node:sqlite passes the same suites", async () => {
  // A test runner inside a test runner would report to the outer one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawn(node22, ["--no-warnings", "--test", "--test-reporter", "tap", file("node-sqlite.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
    env,
  });
  const [output, [status]] = await Promise.all([text(run.stdout), once(run, "exit")]);
  assert.equal(status, 0, output);
  assert.match(output, /^# pass 17$/m);
});

test("where the runtime has no SQLite, a path is refused with what to do", { skip: hasSqlite() }, () => {
  assert.throws(() => createSqliteStore("claims.db"), { name: "TypeError", message: /better-sqlite3/ });
});

test("what is no database, and what is no name of a table, is refused", (t) => {
  for (const database of [undefined, null, 5, {}, { exec() {} }]) {
    assert.throws(() => createSqliteStore(database), { name: "TypeError" });
  }
  const { connection } = connect(t);
  for (const table of ["", "a b", "A", "1a", "a;drop", "a".repeat(49), "é", null, 5]) {
    assert.throws(() => createSqliteStore(connection, { table }), { name: "TypeError" }, String(table));
  }
});

test("receivers with a table each act on the same events independently", async (t) => {
  const { connection } = connect(t);
  const stores = ["orders", "accounting_2"].map((table) => createSqliteStore(connection, { table }));
  for (const store of stores) assert.equal(await store.claim("evt_1", record()), "first");
  await stores[0].complete("evt_1");
  assert.deepEqual((await Promise.all(stores.map((store) => store.pending(9)))).map((claims) => claims.length), [0, 1]);
});

test("what is acknowledged is flushed to disk", (t) => {
  const { connection } = connect(t);
  createSqliteStore(connection);
  assert.equal(connection.prepare("PRAGMA journal_mode").get().journal_mode, "wal");
  assert.equal(connection.prepare("PRAGMA synchronous").get().synchronous, 2); // FULL
});

test("every statement goes by an index, however many claims there are", async (t) => {
  const { connection } = connect(t);
  const prepared = new Set();
  const prepare = (sql) => {
    prepared.add(sql);
    return connection.prepare(sql);
  };
  const store = createSqliteStore({ exec: (sql) => connection.exec(sql), prepare });
  await store.claim("evt_1", record(), 0);
  await store.takeUp("evt_1", 0);
  await store.takeUp("evt_2", 0);
  await store.fail("evt_1", "x");
  await store.pending(10);
  await store.complete("evt_1");
  await store.purge(new Date());
  const statements = [...prepared].filter((sql) => !sql.startsWith("PRAGMA"));
  assert.equal(statements.length, 7);
  const steps = statements.flatMap((sql) => {
    const values = Array(sql.split("?").length - 1).fill(1);
    return connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values).map(({ detail }) => detail);
  });
  // A scan of an index in its order ends at the limit; a scan of the table, or a sort, looks at everything.
  assert.deepEqual(steps.filter((step) => /^SCAN (?!.*USING (COVERING )?INDEX)|TEMP B-TREE/.test(step)), []);
  assert.ok(steps.some((step) => /webhook_claims_due/.test(step)) && steps.some((step) => /webhook_claims_old/.test(step)));
});

test("a database that is gone is an error, not an answer", async (t) => {
  const { connection } = connect(t);
  const store = createSqliteStore(connection);
  connection.exec("DROP TABLE webhook_claims");
  await assert.rejects(store.claim("evt_1", record()));
  await assert.rejects(store.pending(1));
});

function connect(t) {
  const Database = driver();
  const connection = new Database(join(folder(t), "claims.db"));
  t.after(() => connection.close());
  return { connection };
}

function hasSqlite() {
  return process.getBuiltinModule?.("node:sqlite") !== undefined;
}
