// The two profiles of an endpoint's deliveries (contract 15.12): by which headers a verifier looks at them.

import { STANDARD_WEBHOOKS } from "./core.js";
import type { SignatureProfile } from "./types.js";

/** The names of the three headers, in lower case. */
export interface HeaderNames {
  readonly timestamp: string;
  readonly signature: string;
  readonly eventId: string;
}

/** What the core and the search for headers have to know of a profile. */
export interface Profile {
  readonly headers: HeaderNames;
  /** Its number for `core.prepare`. */
  readonly number: number;
  /** Added to the mode of `core.verify`. */
  readonly mode: number;
  /** Whether the host may hash pad, timestamp and body where they lie: what is signed begins with the timestamp. */
  readonly hostDigests: boolean;
  /** What is usable as a secret, for the console. */
  readonly secretForm: string;
}

/** What a verifier has without the option. */
export const SERVICE: Profile = {
  headers: { timestamp: "service-timestamp", signature: "service-signature", eventId: "service-event-id" },
  number: 0,
  mode: 0,
  hostDigests: true,
  secretForm: "whsec_ and visible ASCII, 512 characters at most",
};

const STANDARD: Profile = {
  headers: { timestamp: "webhook-timestamp", signature: "webhook-signature", eventId: "webhook-id" },
  number: 1,
  mode: STANDARD_WEBHOOKS,
  hostDigests: false,
  secretForm: "whsec_ and padded base64, 512 characters at most",
};

/**
 * The profile of this name.
 *
 * @throws {TypeError} there is none
 */
export function profileOf(name: SignatureProfile): Profile {
  if (name === "service") return SERVICE;
  if (name === "standard-webhooks") return STANDARD;
  throw new TypeError('profile must be "service" or "standard-webhooks"');
}
