// Opens a store by its kind and address, here or in a process of its own.

import { createRequire } from "node:module";
import pg from "pg";
import { createPostgresStore } from "verify-wasm/stores/postgres";
import { createSqliteStore } from "verify-wasm/stores/sqlite";

const require = createRequire(import.meta.url);

/** The class of a driver with the interface of `better-sqlite3` that comes as a binary. */
export const driver = () => require("libsql");

/** Each returns the store and how to let go of it. */
export const open = {
  /** A file, by `node:sqlite` of the Node that runs this. */
  "node-sqlite": (path) => ({ store: createSqliteStore(path), close: () => {} }),
  /** A file, by that driver. */
  libsql(path) {
    const Database = driver();
    const connection = new Database(path);
    return { store: createSqliteStore(connection), close: () => connection.close() };
  },
  /** A database, by a pool. */
  postgres(connectionString) {
    const pool = new pg.Pool({ connectionString, max: 4 });
    return { store: createPostgresStore(pool), close: () => pool.end() };
  },
};
