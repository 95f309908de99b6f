// Claims in Cloudflare Workers: Durable Objects decide, Workers KV remembers (contract 11.2).
//
// Workers KV has no insert-if-absent and is eventually consistent, so it can never decide who is first. Whether an id is
// first is decided by one object per shard of the ids, in SQLite. KV holds `evt:<id>` for 90 days once the event is
// processed: to find it there is proof, which spares a late duplicate the way to the object; not to find it is no proof
// of anything. Without KV the answers are the same, so its failures are misses, noted on the console.

import { checkOptions } from "../known-options.js";
import type { Claim, DurableClaimStore } from "./claim-store.js";
import { BODY, MESSAGE, type Operations, bytes } from "./claim-object.js";
import { PURGE_BATCH, purgeBound } from "./purge-bound.js";

export { ClaimObject } from "./claim-object.js";

/** The part of a Durable Object namespace's binding that is used. */
export interface ObjectNamespace {
  idFromName(name: string): unknown;
  get(id: never): { fetch(url: string, init?: never): Promise<unknown> };
}

/** The part of a KV namespace's binding that is used. */
export interface MarkerNamespace {
  get(key: string): Promise<string | null>;
  put(key: string, value: string, options?: { expirationTtl?: number }): Promise<void>;
}

/** The bindings that a store works with. */
export interface WorkersStoreOptions {
  /** The Durable Object namespace of `ClaimObject`. */
  claims: ObjectNamespace;
  /** A KV namespace for the markers of what is processed, used for nothing else. Without it every duplicate asks. */
  markers?: MarkerNamespace | undefined;
}

/** How many objects share the ids. It may not change while claims are kept: they would not be found again. */
const SHARDS = 16;
/** 90 days, the least that contract 11.2 asks for. The claim itself outlives it. */
const MARKER_SECONDS = 90 * 24 * 60 * 60;

type Stub = { fetch(url: string, init: { method: string; body: FormData }): Promise<Response> };

/**
 * Makes a store over a Worker's bindings. Nothing is sent before its first use.
 *
 * @throws {TypeError} a binding is missing, is of another kind, or is none of these
 */
export function createWorkersStore(options: WorkersStoreOptions): DurableClaimStore {
  checkOptions(options, ["claims", "markers"]);
  const { claims, markers } = options;
  if (typeof claims?.idFromName !== "function") {
    throw new TypeError("claims must be a Durable Object namespace: bind the class ClaimObject, see the README");
  }
  if (markers !== undefined && typeof markers?.put !== "function") throw new TypeError("markers must be a KV namespace");

  const shard = (number: number) => {
    const name = `claims-${String(number).padStart(2, "0")}`;
    return claims.get(claims.idFromName(name) as never) as unknown as Stub;
  };
  const owner = async (id: string) => shard(await shardOf(id));
  const all = Array.from({ length: SHARDS }, (_, number) => number);
  return {
    async claim(id, { body, ...record }, leaseMs = 0) {
      if (await isMarked(markers, id)) return "duplicate";
      return said(await ask(await owner(id), "claim", { id, record, leaseMs }, body));
    },
    async takeUp(id, leaseMs) {
      if (await isMarked(markers, id)) return { outcome: "finished" };
      return said(await ask(await owner(id), "takeUp", { id, leaseMs }));
    },
    async complete(id) {
      await ask(await owner(id), "complete", { id });
      await mark(markers, id);
    },
    async fail(id, error, attempt = {}) {
      await ask(await owner(id), "fail", { id, error, ...attempt });
    },
    async pending(limit) {
      const answers = await Promise.all(all.map((number) => pendingOf(shard(number), limit)));
      const byDue = (a: Claim, b: Claim) => a.dueAt - b.dueAt || a.attempts - b.attempts;
      return answers.flat().sort(byDue).slice(0, limit);
    },
    async purge(before) {
      const bound = purgeBound(before);
      const removed = await Promise.all(all.map((number) => purgeShard(shard(number), bound)));
      return removed.reduce((sum, count) => sum + count, 0);
    },
  };
}

type Answer<Operation extends keyof Operations> = { form: FormData; operation: Operation };

async function ask<Operation extends keyof Operations>(
  object: Stub,
  operation: Operation,
  message: Operations[Operation]["asked"],
  body?: Uint8Array,
): Promise<Answer<Operation>> {
  const form = new FormData();
  form.append(MESSAGE, JSON.stringify(message));
  if (body !== undefined) form.append(BODY, new Blob([body as Uint8Array<ArrayBuffer>]));
  // The address is never looked up: an object's own stub carries the request.
  const response = await object.fetch(`https://claims/${operation}`, { method: "POST", body: form });
  if (!response.ok) throw new Error(`the claim object answered ${response.status} to ${operation}`);
  return { form: await response.formData(), operation };
}

function said<Operation extends keyof Operations>({ form }: Answer<Operation>): Operations[Operation]["answer"] {
  return JSON.parse(String(form.get(MESSAGE))) as Operations[Operation]["answer"];
}

async function pendingOf(object: Stub, limit: number): Promise<Claim[]> {
  const answer = await ask(object, "pending", { limit });
  const bodies = await Promise.all(answer.form.getAll(BODY).map(bytes));
  return said(answer).map((claim, index) => ({ ...claim, body: bodies[index] ?? new Uint8Array(0) }));
}

async function purgeShard(object: Stub, before: number): Promise<number> {
  let removed = 0;
  for (;;) {
    const batch = said(await ask(object, "purgeBatch", { before }));
    removed += batch;
    if (batch < PURGE_BATCH) return removed;
  }
}

/** The shard that owns an id. A digest, because ids of one millisecond differ in their random part only. */
async function shardOf(id: string): Promise<number> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(id));
  return (new Uint8Array(digest)[0] ?? 0) % SHARDS;
}

async function isMarked(markers: MarkerNamespace | undefined, id: string): Promise<boolean> {
  try {
    return markers !== undefined && (await markers.get(key(id))) !== null;
  } catch (error) {
    console.warn("verify-wasm: a marker could not be read:", error);
    return false;
  }
}

async function mark(markers: MarkerNamespace | undefined, id: string): Promise<void> {
  try {
    await markers?.put(key(id), new Date().toISOString(), { expirationTtl: MARKER_SECONDS });
  } catch (error) {
    console.warn(`verify-wasm: the marker of event ${id} could not be written:`, error);
  }
}

function key(id: string): string {
  return `evt:${id}`;
}
