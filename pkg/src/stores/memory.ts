// Claims in memory: for tests only.
//
// Everything is forgotten when the process ends, so an event that was acknowledged may be lost and one that was
// processed may be processed again. A warning on the console says so, once per process.

import type { Claim, ClaimStatus, DurableClaimStore } from "./claim-store.js";
import { storable } from "./error-text.js";
import { purgeBound } from "./purge-bound.js";

type StoredClaim = { -readonly [Member in keyof Claim]: Claim[Member] };

let hasWarned = false;

/** Makes a store that lives as long as the process. For tests only: nothing in it survives a restart. */
export function createMemoryStore(): DurableClaimStore {
  if (!hasWarned) {
    hasWarned = true;
    console.warn("verify-wasm/stores/memory is for tests only: it forgets every claim when the process ends");
  }
  const claims = new Map<string, StoredClaim>();
  const unfinished = (id: string) => {
    const claim = claims.get(id);
    return claim?.status === "processed" ? undefined : claim;
  };
  return {
    async claim(id, record, leaseMs = 0) {
      if (claims.has(id)) return "duplicate";
      const status: ClaimStatus = "received";
      const body = record.body.slice();
      claims.set(id, { ...record, id, body, status, attempts: 1, lastError: null, dueAt: Date.now() + leaseMs });
      return "first";
    },
    async takeUp(id, leaseMs) {
      const claim = unfinished(id);
      if (claim === undefined) return { outcome: "finished" };
      if (claim.dueAt > Date.now()) return { outcome: "busy" };
      claim.attempts += 1;
      claim.dueAt = Date.now() + leaseMs;
      return { outcome: "taken", attempt: claim.attempts };
    },
    async complete(id) {
      const claim = unfinished(id);
      if (claim !== undefined) claim.status = "processed";
    },
    async fail(id, error, { attempt, retryAfterMs = 0 } = {}) {
      const claim = unfinished(id);
      if (claim === undefined || (attempt !== undefined && attempt !== claim.attempts)) return;
      claim.status = "error";
      claim.lastError = storable(error);
      claim.dueAt = Date.now() + retryAfterMs;
    },
    async pending(limit) {
      const open = [...claims.values()].filter((claim) => claim.status !== "processed");
      open.sort((a, b) => a.dueAt - b.dueAt || a.attempts - b.attempts);
      return open.slice(0, limit).map((claim) => ({ ...claim, body: claim.body.slice() }));
    },
    async purge(before) {
      const bound = purgeBound(before);
      const old = [...claims.values()].filter((claim) => claim.status === "processed" && claim.receivedAt < bound);
      for (const { id } of old) claims.delete(id);
      return old.length;
    },
  };
}
