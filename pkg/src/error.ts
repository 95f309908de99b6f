// The error that `verify` throws.

import { codeStatus } from "./core.js";
import type { VerificationCode } from "./types.js";

/** A delivery that was refused. The code is all it tells; it may be logged and sent back. */
export class VerificationError extends Error {
  /** The first condition of contract 10.2 that held. */
  readonly code: VerificationCode;
  /** The HTTP status a receiver answers with (contract 11.1). */
  readonly status: number;

  constructor(code: VerificationCode) {
    super(`webhook verification failed: ${code}`);
    const status = codeStatus(code);
    if (status === undefined) throw new TypeError(`${String(code)} is no verification code`);
    this.name = "VerificationError";
    this.code = code;
    this.status = status;
  }
}
