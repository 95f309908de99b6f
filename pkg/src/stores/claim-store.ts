// What a receiver asks of the place where it keeps its claims. No runtime code.
//
// A claim is the insert of an event's id under a uniqueness constraint, before any effect (contract 11.2). Whoever
// was first may act, for as long as the lease lasts that comes with the claim; then the work is completed or it
// has failed. What was neither, because the process died, becomes due when its lease ends and is taken up by
// whoever asks first. A claim that is completed is never taken up again.
//
// The lease and `takeUp` are more than contract 17 names, and needed: without them nobody could tell an event
// that is being worked on from one whose worker died, and would either lose it or run its effect twice at once.
// Leases are given as durations and measured by the store's own clock, so that hosts need not agree on the time.

/** What is stored of an event when it is claimed (contract 11.2). */
export interface ClaimRecord {
  /** Name of the event; it may be one that the catalog does not know. */
  readonly type: string;
  /** When the event was created, as its body says: `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly createdAt: string;
  /** The merchant that the event belongs to, `mer_…`. */
  readonly merchantId: string;
  /** Live or test traffic; `null` when the event does not say. */
  readonly livemode: boolean | null;
  /** When the receiver took the event in, Unix milliseconds. */
  readonly receivedAt: number;
  /** The exact bytes that were verified. */
  readonly body: Uint8Array;
}

/** `received`: claimed, and its effect not yet known to have happened. `error`: the last attempt failed. */
export type ClaimStatus = "received" | "processed" | "error";

/** A stored claim. */
export interface Claim extends ClaimRecord {
  /** The event's id, `evt_…`. */
  readonly id: string;
  readonly status: ClaimStatus;
  /** How many attempts were begun, the one that came with the claim included. */
  readonly attempts: number;
  /** What the last failed attempt said; `null` when none failed. */
  readonly lastError: string | null;
  /** From when on the claim may be taken up, Unix milliseconds: the end of a lease, or of the wait after a failure. */
  readonly dueAt: number;
}

/**
 * The answer of `takeUp`. `taken`: the caller has the lease, for this attempt. `busy`: somebody else has it, or the
 * wait after a failure is not over. `finished`: there is nothing to do any more, because it is done or unknown.
 */
export type TakeUp =
  | { readonly outcome: "taken"; readonly attempt: number }
  | { readonly outcome: "busy" }
  | { readonly outcome: "finished" };

/** Which attempt failed, and when the next may begin. */
export interface FailedAttempt {
  /** The attempt that failed. A failure of any other than the newest is not noted: that one has lost its lease. */
  readonly attempt?: number | undefined;
  /** How long the next attempt has to wait, milliseconds; default 0. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * A place for claims. Every method rejects when it cannot keep its word; what it resolved to is durable.
 *
 * A store of your own may leave `takeUp` out and ignore the last argument of `claim` and `fail`. It is then good for
 * one process at a time.
 */
export interface ClaimStore {
  /**
   * Stores the event unless its id is there already. Of any number of simultaneous calls with one id exactly one
   * gets `first`, and with it the first attempt: for `leaseMs` milliseconds nobody else may act. Default 0.
   */
  claim(id: string, record: ClaimRecord, leaseMs?: number): Promise<"first" | "duplicate">;
  /** Begins another attempt, when the claim is unfinished and due. Of simultaneous calls at most one is `taken`. */
  takeUp?(id: string, leaseMs: number): Promise<TakeUp>;
  /** Notes that the effect has happened. Nothing undoes it; an unknown id is ignored. */
  complete(id: string): Promise<void>;
  /** Notes that an attempt failed, and why. Ignored when the claim is completed or unknown. */
  fail(id: string, error: string, attempt?: FailedAttempt): Promise<void>;
  /**
   * Up to `limit` unfinished claims, the first due first and of those the least tried; those that somebody is working on
   * are among them.
   */
  pending(limit: number): Promise<Claim[]>;
}

/** The stores of this package: whole, and with the removal of what is old. */
export interface DurableClaimStore extends ClaimStore {
  takeUp(id: string, leaseMs: number): Promise<TakeUp>;
  /**
   * Removes completed claims that were received before `before`; unfinished ones stay. Keep at least 90 days: an
   * event that is replayed after its claim is gone has its effect again (contract 11.2).
   *
   * @returns how many were removed
   */
  purge(before: Date): Promise<number>;
}
