// The Durable Object that decides claims: one shard of them, in the object's own SQLite database.
//
// It runs alone on its data, and the runtime holds an answer back until what it tells is on disk. The Worker's side
// (`workers.ts`) asks it by requests that nobody else can send: an object is reached through its binding only.
// A plain class with `fetch` instead of remote calls, so that this file imports nothing that only Workers have.

import type { Claim, ClaimRecord, FailedAttempt, TakeUp } from "./claim-store.js";
import type { FetchRequest, FetchResponse } from "../fetch-types.js";
import { SqliteClaims, type SqlValue, schema } from "./sqlite-claims.js";
import { TABLE } from "./table-name.js";

/** The part of a Durable Object's state that is used. */
export interface ObjectState {
  readonly storage: {
    readonly sql: {
      exec(query: string, ...values: (string | number | ArrayBuffer | null)[]): { toArray(): unknown[] };
    };
  };
}

/** What the object is asked, and what it answers. */
export interface Operations {
  claim: { asked: { id: string; record: Omit<ClaimRecord, "body">; leaseMs: number }; answer: "first" | "duplicate" };
  takeUp: { asked: { id: string; leaseMs: number }; answer: TakeUp };
  complete: { asked: { id: string }; answer: null };
  fail: { asked: { id: string; error: string } & FailedAttempt; answer: null };
  pending: { asked: { limit: number }; answer: Omit<Claim, "body">[] };
  purgeBatch: { asked: { before: number }; answer: number };
}

/** The form fields of a request and of an answer: what is said, as JSON, and the bodies of events, as they are. */
export const MESSAGE = "message";
export const BODY = "body";

/** Export it from your Worker and bind it: see the README for the lines of `wrangler.jsonc`. */
export class ClaimObject {
  readonly #claims: SqliteClaims;

  constructor(state: ObjectState) {
    const { sql } = state.storage;
    const run = (query: string, ...values: SqlValue[]) => sql.exec(query, ...values.map(bindable)).toArray();
    for (const statement of schema(TABLE)) run(statement);
    this.#claims = new SqliteClaims(run, TABLE);
  }

  /** Answers the store's requests. */
  async fetch(request: FetchRequest): Promise<FetchResponse> {
    const { pathname } = new URL((request as Request).url);
    const form = await (request as Request).formData();
    const asked: unknown = JSON.parse(String(form.get(MESSAGE)));
    const answer = new FormData();
    switch (pathname.slice(1) as keyof Operations) {
      case "claim": {
        const { id, record, leaseMs } = asked as Operations["claim"]["asked"];
        const body = await bytes(form.get(BODY));
        say(answer, this.#claims.claim(id, { ...record, body }, leaseMs));
        break;
      }
      case "takeUp": {
        const { id, leaseMs } = asked as Operations["takeUp"]["asked"];
        say(answer, this.#claims.takeUp(id, leaseMs));
        break;
      }
      case "complete":
        this.#claims.complete((asked as Operations["complete"]["asked"]).id);
        say(answer, null);
        break;
      case "fail": {
        const { id, error, ...attempt } = asked as Operations["fail"]["asked"];
        this.#claims.fail(id, error, attempt);
        say(answer, null);
        break;
      }
      case "pending": {
        const claims = this.#claims.pending((asked as Operations["pending"]["asked"]).limit);
        say(answer, claims.map(({ body: _, ...claim }) => claim));
        for (const { body } of claims) answer.append(BODY, new Blob([body as Uint8Array<ArrayBuffer>]));
        break;
      }
      case "purgeBatch":
        say(answer, this.#claims.purgeBatch((asked as Operations["purgeBatch"]["asked"]).before));
        break;
      default:
        return new Response(null, { status: 404 }) as FetchResponse;
    }
    return new Response(answer) as FetchResponse;
  }
}

function say(form: FormData, message: Operations[keyof Operations]["answer"]): void {
  form.append(MESSAGE, JSON.stringify(message));
}

/** The bytes of a form's file. */
export async function bytes(part: unknown): Promise<Uint8Array> {
  return new Uint8Array(await (part as Blob).arrayBuffer());
}

/** The runtime binds an `ArrayBuffer`, and all of it. */
function bindable(value: SqlValue): string | number | ArrayBuffer | null {
  return value instanceof Uint8Array ? (value.slice().buffer as ArrayBuffer) : value;
}
