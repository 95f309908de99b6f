// How long to wait before the next try.

const FIRST_MS = 250;
const LONGEST_MS = 8000;

/** Full jitter: anything from nothing to a bound that doubles, so that clients who failed together come back apart. */
export function jitter(attempt: number): number {
  return Math.random() * Math.min(FIRST_MS * 2 ** (attempt - 1), LONGEST_MS);
}

/** `Retry-After` (RFC 9110 10.2.3), seconds or a date, as milliseconds from now; `null` where there is none. */
export function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** Waits, unless `signal` says otherwise: then it rejects with the signal's reason. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
