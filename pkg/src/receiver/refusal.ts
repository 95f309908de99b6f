// What a verifier says when it refuses a delivery, and how somebody is told.

import type { VerificationCode } from "../types.js";

/** The code and the status of a refusal. */
export interface Refusal {
  readonly code: VerificationCode;
  readonly status: number;
}

/**
 * Whether a verifier has refused, or something else went wrong. By what the error says, not by its class: ES modules and
 * CommonJS have a copy of the class each.
 */
export function isRefusal(error: unknown): error is Refusal {
  const { name, code, status } = (error ?? {}) as { name?: unknown; code?: unknown; status?: unknown };
  return name === "VerificationError" && typeof code === "string" && typeof status === "number";
}

/** Makes a function that only tells: what it throws, now or later, changes or delays nothing. */
export function silently<Values extends unknown[]>(tell: (...values: Values) => unknown): (...values: Values) => void {
  return (...values) => {
    try {
      Promise.resolve(tell(...values)).catch(() => undefined);
    } catch {
      // Nobody is left to be told.
    }
  };
}
