// PostgreSQL, through pg's Pool and Client.

import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import { createReceiver } from "verify-wasm";
import { createPostgresStore } from "verify-wasm/stores/postgres";
import { agreesWithMemory } from "./agreement.mjs";
import { conformance, largePurge, record } from "./conformance.mjs";
import { SECRET, answered, delivery } from "./deliveries.mjs";
import { open } from "./places.mjs";
import { database } from "./postgres-server.mjs";
import { betweenProcesses } from "./processes.mjs";

const place = async (t) => {
  const address = await database();
  const opened = [];
  t.after(() => Promise.all(opened.map(({ close }) => close())));
  const another = async () => {
    opened.push(open.postgres(address));
    const { store } = opened.at(-1);
    await store.migrate();
    return store;
  };
  await another();
  return { address, another };
};
const openPlace = async (t) => (await place(t)).another;
conformance("PostgreSQL", openPlace);
largePurge("PostgreSQL", openPlace);
agreesWithMemory("PostgreSQL", openPlace);
betweenProcesses("PostgreSQL", "postgres", place);

test("several processes may make the table at once", async (t) => {
  const connectionString = await database();
  const pool = new pg.Pool({ connectionString, max: 8 });
  t.after(() => pool.end());
  const store = createPostgresStore(pool);
  await Promise.all(Array.from({ length: 8 }, () => store.migrate()));
  assert.equal(await store.claim("evt_1", record()), "first");
  await store.migrate();
  assert.equal(await store.claim("evt_1", record()), "duplicate");
});

test("one client, a schema and a table of one's own", async (t) => {
  const client = new pg.Client({ connectionString: await database() });
  await client.connect();
  t.after(() => client.end());
  await client.query("CREATE SCHEMA shop; SET search_path = shop");
  const store = createPostgresStore(client, { table: "seen" });
  await client.query(store.schema);
  assert.equal(await store.claim("evt_1", record()), "first");
  assert.equal(await store.claim("evt_1", record()), "duplicate");
  const { rows } = await client.query("SELECT id, received_at FROM shop.seen");
  assert.deepEqual(rows, [{ id: "evt_1", received_at: new Date(1_788_264_000_123) }]);
});

test("what is no client, and what is no name of a table, is refused", () => {
  for (const client of [undefined, null, 5, {}]) assert.throws(() => createPostgresStore(client), { name: "TypeError" });
  for (const table of ["", "a.b", 'a"b', "Seen", null]) {
    assert.throws(() => createPostgresStore({ query() {} }, { table }), { name: "TypeError" }, String(table));
  }
});

test("connections that break in the middle lose nothing: the redelivery has the effect", async (t) => {
  const connectionString = await database();
  const pool = new pg.Pool({ connectionString, max: 1 });
  const broken = new Promise((resolve) => pool.on("error", resolve));
  t.after(() => pool.end());
  const store = createPostgresStore(pool);
  await store.migrate();
  const operator = new pg.Client({ connectionString });
  await operator.connect();
  t.after(() => operator.end());
  const others = "datname = current_database() AND pid <> pg_backend_pid()";
  const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`;

  const acted = [];
  const reported = [];
  const receiver = createReceiver({
    secret: SECRET,
    store,
    onFailure: "ask-for-redelivery",
    async onEvent({ id }, { attempt }) {
      acted.push(`${id} ${attempt}`);
      if (attempt > 1) return;
      await operator.query(cut);
      await broken;
      throw new Error("the shelf is empty");
    },
    onError: (_, { code }) => void reported.push(code),
  });
  assert.deepEqual(await answered(await receiver(delivery("evt_1"))), [500, "processing_failed"]);
  assert.deepEqual((await store.pending(1)).map(({ id, status }) => [id, status]), [["evt_1", "error"]]);
  assert.deepEqual(await answered(await receiver(delivery("evt_1"))), [200, "ok"]);
  assert.deepEqual([acted, reported], [["evt_1 1", "evt_1 2"], ["processing_failed"]]);
});

test("a server that is away, and a table that is missing, is an error and not an answer", async (t) => {
  const away = new pg.Pool({ host: "127.0.0.1", port: 1, connectionTimeoutMillis: 2000 });
  t.after(() => away.end());
  await assert.rejects(createPostgresStore(away).claim("evt_1", record()), { code: "ECONNREFUSED" });
  const pool = new pg.Pool({ connectionString: await database() });
  t.after(() => pool.end());
  await assert.rejects(createPostgresStore(pool).pending(1), { code: "42P01" });
});
