// The WebAssembly core: one instance per copy of this package, and the memory a delivery is written into.
//
// An entry point (`index.ts`, `workerd.ts`) gets hold of the compiled module in its environment's way and calls
// `start`, once, while it is imported. Everything else asks here. The instance has no imports but its own glue.

import * as glue from "./generated/core_bg.js";
import type { VerificationCode } from "./types.js";

export { Secrets, Verifier as CoreVerifier, apiVersion, contractVersion, signatureHeader } from "./generated/core_bg.js";

let memory: WebAssembly.Memory;
let view = new Uint8Array(0);
let input: glue.Input;

/** Instantiates the core. Synchronous, so that a verifier works from the first line after the import. */
export function start(module: WebAssembly.Module): void {
  const { exports } = new WebAssembly.Instance(module, { "./core_bg.js": { ...glue } });
  glue.__wbg_set_wasm(exports);
  (exports["__wbindgen_start"] as () => void)();
  memory = exports["memory"] as WebAssembly.Memory;
  input = new glue.Input();
}

/** The input of the one delivery that is being looked at; verification is synchronous, so one is enough. */
export function currentInput(): glue.Input {
  return input;
}

/**
 * Makes room for a delivery of up to `length` bytes and returns its address in `bytes()`.
 *
 * @throws {RangeError} there is not so much memory; the next, smaller delivery is not affected
 */
export function reserve(length: number): number {
  const address = input.reserve(length);
  if (address === 0) throw new RangeError(`a delivery of ${length} bytes is too large to be verified`);
  return address;
}

/** The core's memory. Ask again after every call into the core: the array is detached when the memory grows. */
export function bytes(): Uint8Array<ArrayBuffer> {
  if (view.byteLength === 0) view = new Uint8Array(memory.buffer as ArrayBuffer);
  return view;
}

/** A code and the HTTP status a receiver answers it with (contract 11.1). */
export interface CodeEntry {
  readonly code: VerificationCode;
  readonly status: number;
}

const codes: CodeEntry[] = [];

/** The core's fifteen codes in order of precedence; the core numbers them from 1. Asked for once. */
export function codeTable(): readonly CodeEntry[] {
  const count = glue.codeCount();
  while (codes.length < count) {
    const number = codes.length + 1;
    codes.push({ code: glue.codeName(number) as VerificationCode, status: glue.codeStatus(number) as number });
  }
  return codes;
}
