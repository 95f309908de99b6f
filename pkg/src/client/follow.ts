// The loop that the event list and the feed of orders have in common: page after page, the position kept when a page is
// done, and on request on and on.

import type { Signal } from "../fetch-types.js";
import { sleep } from "./backoff.js";
import { ClientError } from "./errors.js";
import type { Page } from "./pages.js";

/** How a feed is read. */
export interface FollowOptions {
  /** Goes on at the end, and after a first page in outages, until `signal` is aborted; then resolves. Default `false`. */
  follow?: boolean | undefined;
  /** How long to wait at the end before looking again, milliseconds, 10 to 3,600,000. Default 2000. */
  pollMs?: number | undefined;
  /** Items per page, 1 to 100. Default 100. */
  limit?: number | undefined;
  /** Ends the reading after the item that is being processed. */
  signal?: Signal | undefined;
}

/** Their names. */
export const FOLLOW_OPTIONS = ["follow", "pollMs", "limit", "signal"];

/** What is done with a feed. */
export interface Feed<Item> {
  readonly from: () => string | null | PromiseLike<string | null>;
  readonly page: (cursor: string | null, limit: number, signal: AbortSignal | undefined) => Promise<Page<Item>>;
  readonly each: (item: Item, signal: AbortSignal | undefined) => Promise<void>;
  /** Keeps the position; everything before it is done. */
  readonly done: (cursor: string) => unknown;
}

const POLL_MS_DEFAULT = 2000;
const POLL_MS_MAX = 3_600_000;
const LIMIT_MAX = 100;
/** The longest wait while the service is away, unless it asks for more. */
const PAUSE_MS_MAX = 60_000;

/**
 * Resolves to the last position that was kept.
 *
 * @throws {RangeError} an option is outside its range
 */
export async function follow<Item>(options: FollowOptions, feed: Feed<Item>): Promise<string | null> {
  const { follow: goesOn = false, pollMs = POLL_MS_DEFAULT, limit = LIMIT_MAX } = options;
  if (!(pollMs >= 10 && pollMs <= POLL_MS_MAX)) throw new RangeError("pollMs must be from 10 to 3600000");
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
    throw new RangeError(`limit must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  const signal = options.signal as AbortSignal | undefined;
  /** From the first page on: until then it may be a wrong address, which would never be told. */
  let isPatient = false;
  /** Who follows waits for the end of an outage, however many retries of one call that takes. */
  const patiently = async <Answer>(ask: () => Answer | PromiseLike<Answer>): Promise<Answer> => {
    for (let pauseMs = pollMs; ; pauseMs *= 2) {
      try {
        return await ask();
      } catch (error) {
        if (!isPatient || !(error instanceof ClientError) || !error.retryable) throw error;
        const { retryAfterMs } = error as { retryAfterMs?: number | null };
        await sleep(Math.min(retryAfterMs || Math.min(pauseMs, PAUSE_MS_MAX), POLL_MS_MAX), signal);
      }
    }
  };
  let kept: string | null = null;
  try {
    kept = await feed.from();
    for (;;) {
      signal?.throwIfAborted();
      const page = await patiently(() => feed.page(kept, limit, signal));
      isPatient = goesOn;
      for (const item of page.data) {
        signal?.throwIfAborted();
        await feed.each(item, signal);
      }
      // Absent or empty on the last page, as the brief has it: an empty cursor would mean the oldest event.
      const next = page.next_cursor || undefined;
      const position = page.resume_cursor || next;
      if (position !== undefined && position !== kept) {
        await patiently(() => feed.done(position));
        kept = position;
      }
      if (next !== undefined) continue;
      if (!goesOn) return kept;
      await sleep(pollMs, signal);
    }
  } catch (error) {
    // To end a feed that is followed is not a failure.
    if (goesOn && signal?.aborted && error === signal.reason) return kept;
    throw error;
  }
}
