// Compiled, never run: the stores with the types of the drivers themselves, and what the compiler must refuse.

import { DatabaseSync } from "node:sqlite";
import Database from "better-sqlite3";
import pg from "pg";
import { type Claim, type ClaimRecord, type ClaimStore, type WebhookEvent, Verifier, createReceiver } from "verify-wasm";
import { type PostgresStore, createPostgresStore } from "verify-wasm/stores/postgres";
import { createSqliteStore } from "verify-wasm/stores/sqlite";

export const sqlite: ClaimStore[] = [
  createSqliteStore("claims.db"),
  createSqliteStore(new DatabaseSync("claims.db"), { table: "seen" }),
  createSqliteStore(new Database("claims.db")),
];

export const postgres: PostgresStore = createPostgresStore(new pg.Pool());
export const onOneClient: PostgresStore = createPostgresStore(new pg.Client(), { table: undefined });

// The four methods of the contract are a claim store.
class OwnStore implements ClaimStore {
  async claim(_id: string, record: ClaimRecord): Promise<"first" | "duplicate"> {
    return record.livemode === true ? "first" : "duplicate";
  }
  async complete(_id: string): Promise<void> {}
  async fail(_id: string, _error: string): Promise<void> {}
  async pending(_limit: number): Promise<Claim[]> {
    return [];
  }
}

const store = new OwnStore();
const onEvent = (event: WebhookEvent): string => event.id;
export const receiver = createReceiver({ secret: process.env["SIGNING_SECRET"], store, onEvent });
export const rotating = createReceiver({ verifier: new Verifier(["whsec_new", "whsec_old"]), store, onEvent, onFailure: "ask-for-redelivery" });

export async function fetchHandler(request: Request): Promise<Response> {
  const response: Response = await receiver(request);
  return response;
}

export async function oftener(): Promise<number> {
  const { processed, failed, running } = await receiver.retryPending({ limit: 5 });
  return processed + failed + running + (await postgres.purge(new Date(0)));
}

// @ts-expect-error a store is needed
createReceiver({ secret: "whsec_x", onEvent });
// @ts-expect-error a secret or a verifier is needed
createReceiver({ store, onEvent });
// @ts-expect-error not both
createReceiver({ secret: "whsec_x", verifier: new Verifier("whsec_x"), store, onEvent });
// @ts-expect-error no such way
createReceiver({ secret: "whsec_x", store, onEvent, onFailure: "ignore" });
// @ts-expect-error a request, not its body
void receiver("{}");
// @ts-expect-error no connection
createPostgresStore("postgres://localhost");
