// SHA-256 by the host, where it has one that is synchronous and faster than the core's: Node's `crypto.hash`, which
// Bun, Deno and Workers with Node's compatibility have too.
//
// The host hashes pad, timestamp, full stop and body where they lie in the core's memory. What is secret about the
// verdict stays in the core: it ends the HMAC from that digest and compares in constant time.
//
// The module `node:crypto` is not imported but asked for, when it pays: so this file loads everywhere, and a process
// that sees few deliveries, all short, never loads it.

import { bytes, places } from "./core.js";
import type { PreparedSecrets } from "./secrets.js";

/** One shot, as `node:crypto` has it; "binary" is a string of one character per byte. */
type Hash = (algorithm: "sha256", data: Uint8Array, encoding: "binary") => string;

/** Below so many bytes WebAssembly is as fast or faster (`cargo xtask bench verify`). */
const WORTHWHILE_BYTES = 400;
/** After so many deliveries it pays to load `node:crypto`. */
const WARM_UP_DELIVERIES = 8;

const DIGEST_BYTES = 32;
const { subarray } = Uint8Array.prototype;

let deliveries = 0;
let hash: Hash | null | undefined;

/** Whether the inner digest of a body of so many bytes is better taken from the host. */
export function hostDigestPays(body: number): boolean {
  if (body < WORTHWHILE_BYTES || hash === null) return false;
  if (hash === undefined) {
    deliveries += 1;
    if (deliveries <= WARM_UP_DELIVERIES) return false;
    hash = hostHash();
  }
  return hash !== null;
}

/** Leaves the inner digest of the delivery in place, one for each secret. Call it only when it pays. */
export function leaveHostDigests(secrets: PreparedSecrets, body: number): void {
  const memory = bytes();
  const message = subarray.call(memory, places.pad, places.body + body);
  for (let index = 0; index < secrets.count; index += 1) {
    // That of a single secret stands there since its states do (`putInPlace`).
    if (secrets.count > 1) memory.set(secrets.pads[index] as Uint8Array, places.pad);
    const digest = (hash as Hash)("sha256", message, "binary");
    const at = places.digests + index * DIGEST_BYTES;
    for (let byte = 0; byte < DIGEST_BYTES; byte += 1) memory[at + byte] = digest.charCodeAt(byte);
  }
}

/** `crypto.hash` of Node 20.16 and newer and of whatever is compatible with it; `null` when there is none. */
function hostHash(): Hash | null {
  try {
    const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => { hash?: Hash } | undefined } };
    const hash = process?.getBuiltinModule?.("node:crypto")?.hash;
    // A runtime that only looks like Node might have something else under that name.
    return hash?.("sha256", new Uint8Array(0), "binary").length === DIGEST_BYTES ? hash : null;
  } catch {
    return null;
  }
}
