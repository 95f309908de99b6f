// The error that `verify` throws.

import { codeStatus } from "./core.js";
import type { VerificationCode } from "./types.js";

/** A delivery that was refused. The code is all it tells; it may be logged and sent back. */
export class VerificationError extends Error {
  /** Said here because the package is shipped with short names inside. */
  static override readonly name: string = "VerificationError";
  /** The first condition of contract 10.2 that held. */
  readonly code: VerificationCode;
  /** The HTTP status a receiver answers with (contract 11.1). */
  readonly status: number;
  /** With `status`, what Fastify, Koa, NestJS and others look for when a handler throws the error. */
  readonly statusCode: number;
  /** Whether they may tell the message to the sender; not when the fault is the receiver's own. */
  readonly expose: boolean;

  constructor(code: VerificationCode) {
    super(`webhook verification failed: ${code}`);
    const status = codeStatus(code);
    if (status === undefined) throw new TypeError(`${String(code)} is no verification code`);
    this.name = "VerificationError";
    this.code = code;
    this.status = status;
    this.statusCode = status;
    this.expose = status < 500;
  }
}
