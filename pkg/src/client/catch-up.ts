// Catching up with the event list after a downtime, and following it (the brief's catch-up procedure).
//
//   page ─► for each event: claim its id ─► process ─► complete ─► after the page: save the cursor ─► next page
//
// Claims go to a store of the package, so an event that a webhook has brought is not processed again, nor the other way
// round. A process that dies leaves at most one claim unfinished: its lease ends, and whoever comes to the event next
// takes it up. So each event is processed by one attempt at a time, again only when the attempt before is not known to
// have ended, and the cursor never stands behind an event that is not done. An attempt above the first must therefore look
// whether its effect has happened already; one that is written in the same database under the event's id need not.

import { checkOptions } from "../known-options.js";
import { act } from "../receiver/attempt.js";
import { listedEvent } from "../receiver/listed-event.js";
import type { EventContext } from "../receiver/options.js";
import { type LeasingStore, leasing } from "../receiver/single-process.js";
import type { ClaimStore } from "../stores/claim-store.js";
import type { Signal } from "../fetch-types.js";
import type { WebhookEvent } from "../types.js";
import { sleep } from "./backoff.js";
import { ProcessingError } from "./errors.js";
import { FOLLOW_OPTIONS, type FollowOptions, follow } from "./follow.js";
import type { EventsListFilter } from "./operations.js";
import type { Pages } from "./pages.js";

/** What `client.events.catchUp` is told. */
export interface CatchUpOptions extends FollowOptions {
  /** The saved cursor; `undefined`, `null` or `""`: from the oldest event that is kept. */
  from?: string | null | undefined;
  /** Where claims are kept: the one that your receiver uses, so that each event is processed once. */
  store: ClaimStore;
  /** Does what the event asks for. When it throws, `catchUp` ends with a `ProcessingError`, and the cursor stays. */
  process: (event: WebhookEvent, context: EventContext) => unknown;
  /** Keeps the cursor, durably; called when everything before it is done. */
  save: (cursor: string) => unknown;
  /** Only events of these types, or of a category (`order.*`). */
  type?: EventsListFilter["type"];
  /** How long one attempt may take, and how long a dead process keeps its event, seconds, up to 86,400. Default 60. */
  leaseSeconds?: number | undefined;
}

const OPTIONS = ["from", "store", "process", "save", "type", "leaseSeconds", ...FOLLOW_OPTIONS];
const LEASE_SECONDS_DEFAULT = 60;
const LEASE_SECONDS_MAX = 86_400;
/** How often an event is asked for that somebody else works on. */
const BUSY_POLL_MS = 250;
/** How long an event is waited for at least: the default lease of a receiver that has died. */
const BUSY_WAIT_MS = 300_000;

/** Reads `list` from the cursor on; resolves to the last cursor saved. */
export async function catchUp(
  list: (filter: EventsListFilter, options: { signal?: Signal | undefined }) => Pages<WebhookEvent>,
  options: CatchUpOptions,
): Promise<string | null> {
  checkOptions(options, OPTIONS);
  const { process, save, type, leaseSeconds = LEASE_SECONDS_DEFAULT } = options;
  if (typeof process !== "function") throw new TypeError("process must be a function");
  if (typeof save !== "function") throw new TypeError("save must be a function");
  if (!(leaseSeconds > 0 && leaseSeconds <= LEASE_SECONDS_MAX)) {
    throw new RangeError(`leaseSeconds must be above 0 and at most ${LEASE_SECONDS_MAX}`);
  }
  if (typeof options.store?.claim !== "function") throw new TypeError("store must be a claim store");
  const store = leasing(options.store);
  const leaseMs = Math.ceil(leaseSeconds * 1000);
  const filter: EventsListFilter = type === undefined ? {} : { type };
  return follow(options, {
    from: () => options.from || null,
    page: (cursor, limit, signal) => list({ ...filter, cursor, limit }, { signal }).first(),
    each: (event, signal) => processOnce({ store, leaseMs, process, signal }, event),
    done: save,
  });
}

const BUSY = "somebody else is working on it, or its last attempt failed and the next is not due";

interface Work {
  readonly store: LeasingStore;
  readonly leaseMs: number;
  readonly process: CatchUpOptions["process"];
  readonly signal: AbortSignal | undefined;
}

/** Resolves when the event is done, by this call or by somebody else. */
async function processOnce(work: Work, listed: WebhookEvent): Promise<void> {
  const { store, leaseMs, signal } = work;
  const { id, record, event } = listedEvent(listed);
  let attempt = 1;
  if ((await store.claim(id, record, leaseMs)) !== "first") {
    let taken = await store.takeUp(id, leaseMs);
    const end = performance.now() + Math.max(leaseMs, BUSY_WAIT_MS);
    while (taken.outcome === "busy") {
      if (performance.now() > end) throw new ProcessingError(id, new Error(BUSY));
      await sleep(BUSY_POLL_MS, signal);
      taken = await store.takeUp(id, leaseMs);
    }
    if (taken.outcome === "finished") return;
    attempt = taken.attempt;
  }
  let cause: unknown;
  const report = (error: unknown) => {
    cause ??= error;
  };
  const setup = { store, leaseMs, onEvent: work.process, onFailure: "ask-for-redelivery" as const, retryDelayMs: 0, report };
  if ((await act(setup, id, attempt, event)) !== "processed") throw new ProcessingError(id, cause);
}
