// One attempt to act on a claimed event, from its lease to what is noted of it.
//
// The lease was taken by whoever calls this (with the claim, or by taking it up). The handler runs; at its end the
// claim is completed or failed. When the lease ends first, the signal is aborted and the attempt counts as failed, so
// a handler that hangs holds nothing for ever. Should it succeed later all the same, that is noted: the effect has
// happened, and must not be repeated if nobody has done so yet.

import type { Setup } from "./options.js";
import type { WebhookEvent } from "../types.js";

/**
 * `processed`: the effect has happened and is noted. `failed`: it has not, or it is not known. `unnoted`: it has
 * happened, but the store could not be told, so it will be repeated when the lease has ended.
 */
export type AttemptOutcome = "processed" | "failed" | "unnoted";

const RETRY_DELAY_MS_MAX = 3_600_000;
/** The longest text that is stored of an error, UTF-16 units. */
const ERROR_LENGTH_MAX = 2000;

/** What an attempt needs of the receiver, or of whoever else brings events. */
export type Attempts = Pick<Setup, "store" | "onEvent" | "onFailure" | "leaseMs" | "retryDelayMs" | "report">;

/** Runs the handler on an event that is leased for `attempt`. Never rejects. */
export async function act(
  setup: Attempts,
  id: string,
  attempt: number,
  event: () => WebhookEvent,
): Promise<AttemptOutcome> {
  const lease = new AbortController();
  const timer = setTimeout(() => lease.abort(leaseEnded(setup.leaseMs)), setup.leaseMs);
  unref(timer);
  const work = (async () => setup.onEvent(event(), { attempt, signal: lease.signal }))();
  try {
    await Promise.race([work, aborted(lease.signal)]);
  } catch (error) {
    if (lease.signal.aborted) work.then(() => noteSuccess(setup, id), () => undefined);
    setup.report(error, { code: "processing_failed", eventId: id });
    await noteFailure(setup, id, attempt, error);
    return "failed";
  } finally {
    clearTimeout(timer);
  }
  return (await noteSuccess(setup, id)) ? "processed" : "unnoted";
}

async function noteSuccess({ store, report }: Attempts, id: string): Promise<boolean> {
  try {
    await store.complete(id);
    return true;
  } catch (error) {
    report(error, { code: "storage_unavailable", eventId: id });
    return false;
  }
}

async function noteFailure(setup: Attempts, id: string, attempt: number, cause: unknown): Promise<void> {
  // The sender's schedule sets the pace of redeliveries; a wait of ours would turn one away.
  const retryAfterMs = setup.onFailure === "ask-for-redelivery" ? 0 : retryDelay(setup.retryDelayMs, attempt);
  try {
    await setup.store.fail(id, errorText(cause), { attempt, retryAfterMs });
  } catch (error) {
    // The claim stays as it is, and is due when its lease has ended.
    setup.report(error, { code: "storage_unavailable", eventId: id });
  }
}

function retryDelay(first: number, attempt: number): number {
  const doubled = Math.min(attempt - 1, 30); // beyond that 2 ** n may be Infinity, and 0 times it is no number
  return Math.min(first * 2 ** doubled, RETRY_DELAY_MS_MAX);
}

function errorText(error: unknown): string {
  let text: string;
  try {
    text = String(error);
  } catch {
    text = "an error that cannot be written as text";
  }
  return text.slice(0, ERROR_LENGTH_MAX);
}

function leaseEnded(leaseMs: number): Error {
  const error = new Error(`onEvent did not finish within ${leaseMs / 1000} seconds`);
  error.name = "TimeoutError";
  return error;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

/** Node keeps a process alive for its timers; that of a lease is no reason to. Elsewhere timers are numbers. */
function unref(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}
