// Compiled, never run: a project in which neither Request nor Response is declared.

import { type ClaimStore, type Receiver, createReceiver } from "verify-wasm";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { createPostgresStore } from "verify-wasm/stores/postgres";
import { createSqliteStore } from "verify-wasm/stores/sqlite";
import { ClaimObject, createWorkersStore } from "verify-wasm/stores/workers";

export const all = [createPostgresStore, createSqliteStore, createWorkersStore, ClaimObject];

const store: ClaimStore = createMemoryStore();
export const receiver: Receiver = createReceiver({ secret: "whsec_x", store, onEvent: ({ id }, { signal }) => [id, signal.aborted] });

export async function answer(): Promise<[number, string]> {
  const { status, body } = await receiver.receive({ method: "POST", contentType: null, body: null, headers: {} });
  return [status, body.code];
}
