// The error that `verify` throws.

import { SENTENCES } from "./code-sentences.js";
import { codeStatus } from "./core.js";
import type { VerificationCode } from "./types.js";

/** A delivery that was refused. The code, and what it means, is all it tells; it may be logged and sent back. */
export class VerificationError extends Error {
  /** Said here because bundlers shorten names. */
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
    const status = codeStatus(code);
    if (status === undefined) throw new TypeError(`${String(code)} is no verification code`);
    super(`webhook verification failed: ${code}. ${SENTENCES[code]} verifier.explain(body, headers) tells what went wrong.`);
    this.name = "VerificationError";
    this.code = code;
    this.status = status;
    this.statusCode = status;
    this.expose = status < 500;
  }
}
