// Makes a store without `takeUp` usable, for one process.
//
// Who is working on what is then known in this process's memory only: two processes on such a store could both take
// up what a third left behind. Whether an event is unfinished is asked of the store, so nothing is lost by a restart.

import type { ClaimStore, TakeUp } from "../stores/claim-store.js";

/** A store whose claims can be taken up. */
export interface LeasingStore extends ClaimStore {
  takeUp(id: string, leaseMs: number): Promise<TakeUp>;
}

/** How many unfinished claims are looked through for one that comes again. */
const LOOKED_THROUGH = 1000;

/** The leases of each store, which all who use it in this process share: a receiver, and a program that catches up. */
const known = new WeakMap<ClaimStore, SingleProcess>();

/** The store itself when it knows leases, else one that remembers them for this process. */
export function leasing(store: ClaimStore): LeasingStore {
  if (typeof store.takeUp === "function") return store as LeasingStore;
  const remembering = known.get(store) ?? new SingleProcess(store);
  known.set(store, remembering);
  return remembering;
}

class SingleProcess implements LeasingStore {
  readonly #store: ClaimStore;
  /** Until when (Unix milliseconds) nobody may begin with an id: its lease, or the wait after a failure. */
  readonly #heldUntil = new Map<string, number>();
  /** Ids whose `claim` is not answered yet, once for each call. The store may show the claim before it answers. */
  readonly #claiming: string[] = [];

  constructor(store: ClaimStore) {
    this.#store = store;
  }

  async claim(...[id, record, leaseMs = 0]: Parameters<ClaimStore["claim"]>) {
    this.#claiming.push(id);
    try {
      const claimed = await this.#store.claim(id, record, leaseMs);
      if (claimed === "first") this.#hold(id, leaseMs);
      return claimed;
    } finally {
      this.#claiming.splice(this.#claiming.indexOf(id), 1);
    }
  }

  async takeUp(id: string, leaseMs: number): Promise<TakeUp> {
    if (this.#isHeld(id)) return { outcome: "busy" };
    const unfinished = await this.#store.pending(LOOKED_THROUGH);
    const claim = unfinished.find((claim) => claim.id === id);
    if (claim === undefined) return { outcome: unfinished.length < LOOKED_THROUGH ? "finished" : "busy" };
    if (this.#isHeld(id)) return { outcome: "busy" }; // taken while the store was asked
    this.#hold(id, leaseMs);
    return { outcome: "taken", attempt: (claim.attempts ?? 0) + 1 };
  }

  async complete(id: string): Promise<void> {
    await this.#store.complete(id);
    this.#heldUntil.delete(id);
  }

  async fail(...[id, error, attempt]: Parameters<ClaimStore["fail"]>): Promise<void> {
    await this.#store.fail(id, error, attempt);
    this.#hold(id, attempt?.retryAfterMs ?? 0);
  }

  pending(limit: number) {
    return this.#store.pending(limit);
  }

  #isHeld(id: string): boolean {
    return this.#claiming.includes(id) || (this.#heldUntil.get(id) ?? 0) > Date.now();
  }

  #hold(id: string, forMs: number): void {
    if (forMs > 0) this.#heldUntil.set(id, Date.now() + forMs);
    else this.#heldUntil.delete(id);
  }
}
