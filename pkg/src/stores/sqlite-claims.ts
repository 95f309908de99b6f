// The claims of one SQLite database, whoever runs the statements: a process with a file (`sqlite.ts`) or a Durable
// Object (`claim-object.ts`). Synchronous, as both are.
//
// Every step is one statement, so that each is a transaction of its own: the primary key decides a claim, and the
// condition of an update decides who takes one up, among any number of processes. Every statement returns rows, which
// is how its effect is read; no driver's count of changes is needed. `due_at` is the end of a lease or of the wait
// after a failure; what is processed is in no index that the work asks.

import type { Claim, ClaimRecord, ClaimStatus, FailedAttempt, TakeUp } from "./claim-store.js";
import { storable } from "./error-text.js";
import { PURGE_BATCH } from "./purge-bound.js";

/** A value that is bound to a statement. */
export type SqlValue = string | number | Uint8Array | null;

/** Runs one statement to its end and returns its rows. */
export type RunStatement = (sql: string, ...values: SqlValue[]) => readonly unknown[];

interface Row {
  id: string;
  type: string;
  created_at: string;
  merchant_id: string;
  livemode: number | null;
  received_at: number;
  status: ClaimStatus;
  attempts: number;
  last_error: string | null;
  due_at: number;
  body: Uint8Array | ArrayBuffer;
}

/** The statements that make the table, in order. Times are Unix milliseconds. */
export function schema(table: string): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (
      id TEXT PRIMARY KEY NOT NULL,
      type TEXT NOT NULL,
      created_at TEXT NOT NULL,
      merchant_id TEXT NOT NULL,
      livemode INTEGER CHECK (livemode IN (0, 1)),
      received_at INTEGER NOT NULL,
      status TEXT NOT NULL DEFAULT 'received' CHECK (status IN ('received', 'processed', 'error')),
      attempts INTEGER NOT NULL DEFAULT 1,
      last_error TEXT,
      due_at INTEGER NOT NULL,
      body BLOB NOT NULL
    ) STRICT`,
    `CREATE INDEX IF NOT EXISTS ${table}_due ON ${table} (due_at, attempts) WHERE status <> 'processed'`,
    `CREATE INDEX IF NOT EXISTS ${table}_old ON ${table} (received_at) WHERE status = 'processed'`,
  ];
}

/** What can be done with the claims of one database. */
export class SqliteClaims {
  readonly #run: RunStatement;
  readonly #table: string;

  constructor(run: RunStatement, table: string) {
    this.#run = run;
    this.#table = table;
  }

  claim(id: string, record: ClaimRecord, leaseMs: number): "first" | "duplicate" {
    const { type, createdAt, merchantId, livemode, receivedAt, body } = record;
    const rows = this.#run(
      `INSERT INTO ${this.#table} (id, type, created_at, merchant_id, livemode, received_at, due_at, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING id`,
      ...[id, type, createdAt, merchantId, livemode === null ? null : Number(livemode)],
      ...[receivedAt, Date.now() + leaseMs, body],
    );
    return rows.length === 1 ? "first" : "duplicate";
  }

  takeUp(id: string, leaseMs: number): TakeUp {
    const now = Date.now();
    const [taken] = this.#run(
      `UPDATE ${this.#table} SET attempts = attempts + 1, due_at = ?
       WHERE id = ? AND status <> 'processed' AND due_at <= ? RETURNING attempts`,
      ...[now + leaseMs, id, now],
    ) as [{ attempts: number }?];
    if (taken !== undefined) return { outcome: "taken", attempt: taken.attempts };
    const unfinished = this.#run(`SELECT id FROM ${this.#table} WHERE id = ? AND status <> 'processed'`, id);
    return { outcome: unfinished.length === 1 ? "busy" : "finished" };
  }

  complete(id: string): void {
    this.#run(`UPDATE ${this.#table} SET status = 'processed' WHERE id = ? RETURNING id`, id);
  }

  fail(id: string, error: string, { attempt, retryAfterMs = 0 }: FailedAttempt): void {
    this.#run(
      `UPDATE ${this.#table} SET status = 'error', last_error = ?, due_at = ?
       WHERE id = ? AND status <> 'processed' AND attempts = coalesce(?, attempts) RETURNING id`,
      ...[storable(error), Date.now() + retryAfterMs, id, attempt ?? null],
    );
  }

  pending(limit: number): Claim[] {
    const rows = this.#run(
      `SELECT id, type, created_at, merchant_id, livemode, received_at, status, attempts, last_error, due_at, body
       FROM ${this.#table} WHERE status <> 'processed' ORDER BY due_at, attempts LIMIT ?`,
      limit,
    ) as readonly Row[];
    return rows.map(claimOf);
  }

  /** Removes one batch; fewer than `PURGE_BATCH` means that nothing is left. */
  purgeBatch(before: number): number {
    return this.#run(
      `DELETE FROM ${this.#table} WHERE id IN
         (SELECT id FROM ${this.#table} WHERE status = 'processed' AND received_at < ? LIMIT ${PURGE_BATCH})
       RETURNING id`,
      before,
    ).length;
  }
}

function claimOf(row: Row): Claim {
  const { id, type, livemode, status, attempts, body } = row;
  return {
    ...{ id, type, createdAt: row.created_at, merchantId: row.merchant_id },
    livemode: livemode === null ? null : livemode === 1,
    receivedAt: row.received_at,
    ...{ status, attempts, lastError: row.last_error, dueAt: row.due_at },
    body: body instanceof ArrayBuffer ? new Uint8Array(body) : plainBytes(body),
  };
}

/** Some drivers return a `Buffer`, which is a view of a pool. */
function plainBytes(body: Uint8Array): Uint8Array {
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
}
