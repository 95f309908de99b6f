// The receiver with a verifier of this copy of the package. What it does is in `receiver.ts`, which is a file of its own in
// CommonJS: it is loaded when the first receiver is made.

import { type Receiver, receiverWith } from "./receiver.js";
import type { ReceiverOptions } from "./receiver/options.js";
import { Verifier } from "./verifier.js";

/**
 * Makes a receiver.
 *
 * @throws {TypeError} an option is missing, has the wrong type, or does not exist
 * @throws {RangeError} an option is outside its range
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  return receiverWith(options, (secret, maxBodyBytes) => new Verifier(secret, { maxBodyBytes }));
}
