// What counts as the raw body, and the error when it is gone: something parsed it before the adapter could read it.
//
// What was signed are the bytes, so no verdict is possible. The error goes to the framework's own error handling, which
// answers 500 (the sender then keeps its schedule, and nothing is lost) and shows the developer what to change.

/** Of any realm: in a test runner's sandbox, `Buffer` is no instance of the sandbox's `Uint8Array`. */
export function isUint8Array(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** The raw body cannot be had any more. The message says what to change in the application. */
export class RawBodyError extends Error {
  readonly code = "raw_body_unavailable";
  /** Under the names that the frameworks look for. */
  readonly status = 500;
  readonly statusCode = 500;
  /** Koa and Express: not for the client. */
  readonly expose = false;

  /**
   * @param found What there is instead of the bytes.
   * @param advice What to change, in the words of the framework.
   */
  constructor(found: string, advice: string) {
    super(`The raw body of a webhook delivery is not available: ${found}. ${advice}`);
    this.name = "RawBodyError";
  }
}
