// Claims in PostgreSQL: for receivers of any number of machines.
//
// The connections are the user's: a `Pool` of `pg`, or whatever else has its `query`. Every step is one statement and so
// one transaction, decided by the primary key or by the condition of an update; times are the server's. How durable an
// acknowledged claim is, is what the server's `synchronous_commit` says (default: on disk).

import type { Claim, ClaimStatus, DurableClaimStore } from "./claim-store.js";
import { storable } from "./error-text.js";
import { PURGE_BATCH, purgeBound } from "./purge-bound.js";
import { type TableOptions, tableName } from "./table-name.js";

/** The part of `pg`'s `Pool` and `Client` that is used. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** Settings of `createPostgresStore`. */
export type PostgresStoreOptions = TableOptions;

/** A store in PostgreSQL. */
export interface PostgresStore extends DurableClaimStore {
  /**
   * Makes the table and its indexes when they are missing. Call it before the first delivery, or run `schema` with
   * your own migrations. Several processes may do so at once.
   */
  migrate(): Promise<void>;
  /** The statements that `migrate` runs. */
  readonly schema: string;
}

interface Row {
  id: string;
  type: string;
  created_at: string;
  merchant_id: string;
  livemode: boolean | null;
  received_at: number;
  status: ClaimStatus;
  attempts: number;
  last_error: string | null;
  due_at: number;
  body: Uint8Array;
}

/** Any number; what counts is that all processes that migrate use the same. */
const MIGRATION_LOCK = 7_726_291_535;

const DUE_IN = "clock_timestamp() + interval '1 millisecond' *";

/**
 * Makes a store over connections of yours. Nothing is sent before its first use.
 *
 * @param client A `Pool`. A `Client` will do where one thing is done at a time, which a receiver of deliveries does not.
 * @throws {TypeError} `client` has no `query`, or the table's name is none
 */
export function createPostgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): PostgresStore {
  if (typeof client?.query !== "function") throw new TypeError("client must be a Pool or Client of pg");
  const table = tableName(options);
  const rows = async (text: string, ...values: unknown[]) => (await client.query(text, values)).rows;
  return {
    schema: schema(table),
    async migrate() {
      // Without parameters several statements are sent as one, which makes them one transaction: the lock is theirs.
      await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK}); ${schema(table)}`);
    },
    async claim(id, record, leaseMs = 0) {
      const { type, createdAt, merchantId, livemode, receivedAt, body } = record;
      const inserted = await rows(
        `INSERT INTO ${table} (id, type, created_at, merchant_id, livemode, received_at, due_at, body)
         VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000), ${DUE_IN} $7::float8, $8)
         ON CONFLICT (id) DO NOTHING RETURNING id`,
        ...[id, type, createdAt, merchantId, livemode, receivedAt, leaseMs, body],
      );
      return inserted.length === 1 ? "first" : "duplicate";
    },
    async takeUp(id, leaseMs) {
      const [taken] = (await rows(
        `UPDATE ${table} SET attempts = attempts + 1, due_at = ${DUE_IN} $2::float8
         WHERE id = $1 AND status <> 'processed' AND due_at <= clock_timestamp() RETURNING attempts`,
        ...[id, leaseMs],
      )) as [{ attempts: number }?];
      if (taken !== undefined) return { outcome: "taken", attempt: taken.attempts };
      const unfinished = await rows(`SELECT id FROM ${table} WHERE id = $1 AND status <> 'processed'`, id);
      return { outcome: unfinished.length === 1 ? "busy" : "finished" };
    },
    async complete(id) {
      await rows(`UPDATE ${table} SET status = 'processed' WHERE id = $1`, id);
    },
    async fail(id, error, { attempt, retryAfterMs = 0 } = {}) {
      await rows(
        `UPDATE ${table} SET status = 'error', last_error = $2, due_at = ${DUE_IN} $3::float8
         WHERE id = $1 AND status <> 'processed' AND attempts = coalesce($4::integer, attempts)`,
        ...[id, storable(error), retryAfterMs, attempt ?? null],
      );
    },
    async pending(limit) {
      const unfinished = await rows(
        `SELECT id, type, created_at, merchant_id, livemode, ${milliseconds("received_at")}, status, attempts,
           last_error, ${milliseconds("due_at")}, body
         FROM ${table} WHERE status <> 'processed' ORDER BY ${table}.due_at, attempts LIMIT $1`,
        limit,
      );
      return (unfinished as Row[]).map(claimOf);
    },
    async purge(before) {
      const bound = purgeBound(before);
      let removed = 0;
      for (;;) {
        const batch = await rows(
          `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table}
             WHERE status = 'processed' AND received_at < to_timestamp($1::float8 / 1000) LIMIT ${PURGE_BATCH})
           RETURNING id`,
          bound,
        );
        removed += batch.length;
        if (batch.length < PURGE_BATCH) return removed;
      }
    },
  };
}

function schema(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (
  id text COLLATE "C" PRIMARY KEY,
  type text NOT NULL,
  created_at text NOT NULL,
  merchant_id text NOT NULL,
  livemode boolean,
  received_at timestamptz NOT NULL,
  status text NOT NULL DEFAULT 'received' CHECK (status IN ('received', 'processed', 'error')),
  attempts integer NOT NULL DEFAULT 1,
  last_error text,
  due_at timestamptz NOT NULL,
  body bytea NOT NULL
);
CREATE INDEX IF NOT EXISTS ${table}_due ON ${table} (due_at, attempts) WHERE status <> 'processed';
CREATE INDEX IF NOT EXISTS ${table}_old ON ${table} (received_at) WHERE status = 'processed';`;
}

/** A time as Unix milliseconds, under its own name. `float8` arrives as a number, which `bigint` does not. */
function milliseconds(column: string): string {
  return `round(extract(epoch FROM ${column}) * 1000)::float8 AS ${column}`;
}

function claimOf(row: Row): Claim {
  const { id, type, livemode, status, attempts, body } = row;
  return {
    ...{ id, type, createdAt: row.created_at, merchantId: row.merchant_id, livemode },
    ...{ receivedAt: row.received_at, status, attempts, lastError: row.last_error, dueAt: row.due_at },
    // `pg` returns a `Buffer`.
    body: new Uint8Array(body.buffer, body.byteOffset, body.byteLength),
  };
}
