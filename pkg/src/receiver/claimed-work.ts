// What happens to an event that is known to be genuine: it is claimed, then acted on, now or by a later attempt.
//
// Whoever brings the event waits no longer than `answerWithinSeconds` for the store and the handler together; the work
// goes on without it, and what is told then is how far it has come. No error leaves this file but those of `retryDue`:
// they are reported, and what they mean is in the outcome.

import { act } from "./attempt.js";
import type { Claim, ClaimRecord } from "../stores/claim-store.js";
import type { Setup } from "./options.js";
import type { WebhookEvent } from "../types.js";

/** A genuine event. */
export interface Genuine {
  readonly id: string;
  readonly record: ClaimRecord;
  /** The event itself; built when it is acted on. */
  readonly event: () => WebhookEvent;
}

/**
 * How far an event has come.
 *
 * - `processed`: its effect has happened, just now.
 * - `failed`: it was tried and failed. `unnoted`: its effect has happened, but the store could not be told.
 * - `running`: it is being tried, by this call. `busy`: by somebody else.
 * - `duplicate`: it was claimed before, and there is nothing to do.
 * - `unclaimed`: the store could not claim it, or has not said so yet.
 */
export type Outcome = "processed" | "failed" | "unnoted" | "running" | "busy" | "duplicate" | "unclaimed";

/** What one call of `retryPending` did. */
export interface RetrySummary {
  /** Events whose attempt succeeded. */
  readonly processed: number;
  /** Events whose attempt failed; they stay pending. */
  readonly failed: number;
  /** Events whose attempt was begun and still runs. */
  readonly running: number;
}

/** What is stored was found to be UTF-8 before it was. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Claims an event and acts on it. Never rejects. */
export async function claimAndAct(setup: Setup, genuine: Genuine): Promise<Outcome> {
  let soFar: Outcome = "unclaimed";
  const begun = () => {
    soFar = "running";
  };
  const work = begin(setup, genuine, begun).catch((error: unknown): Outcome => {
    setup.report(error, { code: "storage_unavailable", eventId: genuine.id });
    return "unclaimed";
  });
  return (await withinMs(work, setup.answerWithinMs)) ?? soFar;
}

async function begin(setup: Setup, { id, record, event }: Genuine, begun: () => void): Promise<Outcome> {
  let attempt = 1;
  const claimed = await setup.store.claim(id, record, setup.leaseMs);
  if (claimed !== "first") {
    if (setup.onFailure === "retry-internally") return "duplicate";
    const taken = await setup.store.takeUp(id, setup.leaseMs);
    if (taken.outcome !== "taken") return taken.outcome === "busy" ? "busy" : "duplicate";
    attempt = taken.attempt;
  }
  begun();
  return act(setup, id, attempt, event);
}

/**
 * Makes another attempt at up to `limit` pending events that are due, one after the other: what failed may have failed
 * because too much was asked at once. One that takes long is not waited for.
 *
 * @throws the store's error, when it cannot say what is pending
 */
export async function retryDue(setup: Setup, limit: number): Promise<RetrySummary> {
  const summary = { processed: 0, failed: 0, running: 0 };
  for (const claim of await setup.store.pending(limit)) {
    const outcome = await retry(setup, claim);
    if (outcome === "processed" || outcome === "running") summary[outcome] += 1;
    else if (outcome !== "busy") summary.failed += 1;
  }
  return summary;
}

/** Tries one event again, unless somebody else does or it is not due. */
async function retry(setup: Setup, { id, body }: Claim): Promise<Outcome> {
  const taken = await setup.store.takeUp(id, setup.leaseMs);
  if (taken.outcome !== "taken") return "busy";
  const event = () => JSON.parse(decoder.decode(body)) as WebhookEvent;
  return (await withinMs(act(setup, id, taken.attempt, event), setup.answerWithinMs)) ?? "running";
}

/** What a promise resolves to, or `undefined` when that takes longer. */
async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
