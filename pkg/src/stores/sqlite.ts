// Claims in a SQLite file: for receivers of one machine, any number of processes.
//
// The database is opened by the user, or here by its path where the runtime has SQLite itself (`node:sqlite`, Node
// 22.13 and newer). Nothing is imported that might be missing. What is acknowledged is on disk: write-ahead log, flushed
// at every commit. Writers of other processes are waited for up to five seconds.

import type { DurableClaimStore } from "./claim-store.js";
import { PURGE_BATCH, purgeBound } from "./purge-bound.js";
import { SqliteClaims, type SqlValue, schema } from "./sqlite-claims.js";
import { type TableOptions, tableName } from "./table-name.js";

/** The part of a synchronous SQLite driver that is used: `node:sqlite`, `better-sqlite3`, `bun:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): { all(...values: SqlValue[]): unknown[] };
}

/** Settings of `createSqliteStore`. */
export type SqliteStoreOptions = TableOptions;

const BUSY_TIMEOUT_MS = 5000;
/** Between two tries to change the journal. */
const BUSY_RETRY_MS = 5;

/**
 * Opens the store and makes its table when there is none.
 *
 * @param database The path of a file, which is opened with `node:sqlite`; or a connection that is yours to open and
 *   close and that nobody else uses (a transaction of others would have the claims in it): a `DatabaseSync` of
 *   `node:sqlite`, a `Database` of `better-sqlite3` or of `bun:sqlite`.
 * @throws {TypeError} `database` is neither, the runtime has no SQLite of its own, or the table's name is none
 * @throws the driver's error, when the file cannot be opened or is no database
 */
export function createSqliteStore(
  database: string | SqliteDatabase,
  options: SqliteStoreOptions = {},
): DurableClaimStore {
  const table = tableName(options);
  const connection = typeof database === "string" ? open(database) : checked(database);
  connection.prepare(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`).all();
  writeAhead(connection);
  connection.exec("PRAGMA synchronous = FULL");
  for (const statement of schema(table)) connection.exec(statement);

  const prepared = new Map<string, ReturnType<SqliteDatabase["prepare"]>>();
  const claims = new SqliteClaims((sql, ...values) => {
    const statement = prepared.get(sql) ?? connection.prepare(sql);
    prepared.set(sql, statement);
    return statement.all(...values);
  }, table);
  return {
    claim: async (id, record, leaseMs = 0) => claims.claim(id, record, leaseMs),
    takeUp: async (id, leaseMs) => claims.takeUp(id, leaseMs),
    complete: async (id) => claims.complete(id),
    fail: async (id, error, attempt = {}) => claims.fail(id, error, attempt),
    pending: async (limit) => claims.pending(limit),
    async purge(before) {
      const bound = purgeBound(before);
      let removed = 0;
      for (;;) {
        const batch = claims.purgeBatch(bound);
        removed += batch;
        if (batch < PURGE_BATCH) return removed;
        await new Promise((resolve) => setTimeout(resolve)); // what has arrived meanwhile comes first
      }
    },
  };
}

/**
 * Of processes that open a new file at the same time, each wants to change its journal; SQLite refuses all but one at once,
 * whatever the timeout says, so that they do not wait for one another for ever.
 */
function writeAhead(connection: SqliteDatabase): void {
  const end = Date.now() + BUSY_TIMEOUT_MS;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      connection.prepare("PRAGMA journal_mode = WAL").all();
      return;
    } catch (error) {
      // Each driver has a code of its own for it; the text is SQLite's.
      if (!String(error).includes("database is locked") || Date.now() >= end) throw error;
      Atomics.wait(clock, 0, 0, BUSY_RETRY_MS);
    }
  }
}

type NodeSqlite = { DatabaseSync: new (path: string) => SqliteDatabase };
type NodeProcess = { getBuiltinModule?: (name: string) => NodeSqlite | undefined };

function open(path: string): SqliteDatabase {
  const { process } = globalThis as { process?: NodeProcess };
  const sqlite = process?.getBuiltinModule?.("node:sqlite");
  if (sqlite === undefined) {
    throw new TypeError(
      "this runtime has no node:sqlite (Node 22.13 and newer have it): install better-sqlite3 and pass " +
        "new Database(path) instead of the path",
    );
  }
  return new sqlite.DatabaseSync(path);
}

function checked(database: SqliteDatabase): SqliteDatabase {
  if (typeof database?.exec !== "function" || typeof database.prepare !== "function") {
    throw new TypeError("database must be a path or an open database of node:sqlite, better-sqlite3 or bun:sqlite");
  }
  return database;
}
