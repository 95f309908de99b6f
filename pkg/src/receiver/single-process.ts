// Makes a store without `takeUp` usable, for one process.
//
// Who is working on what is then known in this process's memory only: two processes on such a store could both take
// up what a third left behind. Whether an event is unfinished is asked of the store, so nothing is lost by a restart.

import type { ClaimStore, TakeUp } from "../stores/claim-store.js";

/** A store whose claims can be taken up. */
export interface LeasingStore extends ClaimStore {
  takeUp(id: string, leaseMs: number): Promise<TakeUp>;
}

/** Until when (Unix milliseconds) nobody may begin with an id: its lease, or the wait after a failure. */
interface Hold {
  until: number;
}

/** What this process knows of a store. */
interface Known {
  readonly holds: Map<string, Hold>;
  /** Ids whose `claim` is not answered yet, once for each call. The store may show the claim before it answers. */
  readonly claiming: string[];
}

/** How many unfinished claims are looked through for one that comes again. */
const LOOKED_THROUGH = 1000;

/** The store itself when it knows leases, else one that remembers them for this process. */
export function leasing(store: ClaimStore): LeasingStore {
  if (typeof store.takeUp === "function") return store as LeasingStore;
  // All who use a store in this process share what is known of it, a receiver and a program that catches up. Each entry
  // point, as ES module and as CommonJS, has a copy of this file: so it is plain data, under a name that all know.
  const everywhere = globalThis as unknown as Record<symbol, WeakMap<ClaimStore, Known> | undefined>;
  const stores = (everywhere[Symbol.for("verify-wasm.leases")] ??= new WeakMap());
  const known = stores.get(store) ?? { holds: new Map(), claiming: [] };
  stores.set(store, known);
  return new SingleProcess(store, known);
}

class SingleProcess implements LeasingStore {
  readonly #store: ClaimStore;
  readonly #known: Known;

  constructor(store: ClaimStore, known: Known) {
    this.#store = store;
    this.#known = known;
  }

  async claim(...[id, record, leaseMs = 0]: Parameters<ClaimStore["claim"]>) {
    const { claiming } = this.#known;
    claiming.push(id);
    try {
      const claimed = await this.#store.claim(id, record, leaseMs);
      if (claimed === "first") this.#hold(id, leaseMs);
      return claimed;
    } finally {
      claiming.splice(claiming.indexOf(id), 1);
    }
  }

  async takeUp(id: string, leaseMs: number): Promise<TakeUp> {
    const { holds, claiming } = this.#known;
    const now = Date.now();
    if (claiming.includes(id) || (holds.get(id)?.until ?? 0) > now) return { outcome: "busy" };
    // Held while the store is asked: its answer may be older than what another call does meanwhile.
    const hold = { until: now + leaseMs };
    holds.set(id, hold);
    let taken = false;
    try {
      const unfinished = await this.#store.pending(LOOKED_THROUGH);
      const claim = unfinished.find((claim) => claim.id === id);
      if (claim === undefined) return { outcome: unfinished.length < LOOKED_THROUGH ? "finished" : "busy" };
      if (holds.get(id) !== hold) return { outcome: "busy" }; // an attempt whose lease had ended has come to its end
      hold.until = Date.now() + leaseMs;
      taken = true;
      return { outcome: "taken", attempt: (claim.attempts ?? 0) + 1 };
    } finally {
      if (!taken && holds.get(id) === hold) holds.delete(id);
    }
  }

  async complete(id: string): Promise<void> {
    await this.#store.complete(id);
    this.#known.holds.delete(id);
  }

  async fail(...[id, error, attempt]: Parameters<ClaimStore["fail"]>): Promise<void> {
    await this.#store.fail(id, error, attempt);
    this.#hold(id, attempt?.retryAfterMs ?? 0);
  }

  pending(limit: number) {
    return this.#store.pending(limit);
  }

  #hold(id: string, forMs: number): void {
    if (forMs > 0) this.#known.holds.set(id, { until: Date.now() + forMs });
    else this.#known.holds.delete(id);
  }
}
