// Up to when `purge` removes.

/** How many claims one statement removes: deliveries get through between two of them. */
export const PURGE_BATCH = 1000;

/** Unix milliseconds of `before`. */
export function purgeBound(before: Date): number {
  const time = before instanceof Date ? before.getTime() : NaN;
  if (Number.isNaN(time)) throw new TypeError("before must be a valid Date");
  return time;
}
