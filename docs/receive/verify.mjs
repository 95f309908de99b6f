// Verifies a signed webhook with Node's own modules alone. Node.js 20 or newer.

import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE = 300; // seconds, in either direction
const MAX_BODY = 16 * 1024 * 1024; // bytes

/** The delivery is refused. `code` is one of the fifteen codes. */
export class VerificationError extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/**
 * Returns the event, or throws a VerificationError.
 *
 * rawBody: a Buffer with the bytes as they came in. headers: `request.headers` of Node. secrets: an array of strings,
 * eight at most. now: Unix seconds, whole.
 */
export function verify(rawBody, headers, secrets, now) {
  if (secrets.length > 8) throw new RangeError("at most 8 secrets");
  refuseUnless(!(rawBody?.length > MAX_BODY), "invalid_payload");
  refuseUnless(rawBody?.length > 0, "missing_body");
  const areUsable = secrets.every((secret) => matches(secret, /^whsec_[!-~]{1,506}$/));
  refuseUnless(secrets.length > 0 && areUsable, "invalid_secret");
  // Node has joined several lines of one name.
  const timestamp = headers["service-timestamp"];
  refuseUnless(matches(timestamp, /^[0-9]{10}$/), "invalid_timestamp");
  refuseUnless(Math.abs(now - Number(timestamp)) <= TOLERANCE, "stale_timestamp");
  const signature = trim(headers["service-signature"] ?? "");
  refuseUnless(signature !== "", "missing_signature");
  refuseUnless(isSigned(signature, timestamp, rawBody, secrets), "invalid_signature");
  const event = parse(rawBody);
  check(event);
  refuseUnless(headers["service-event-id"] === event.id, "event_id_mismatch");
  return event;
}

function refuseUnless(condition, code) {
  if (!condition) throw new VerificationError(code);
}

function matches(value, pattern) {
  return typeof value === "string" && pattern.test(value);
}

/** `String.trim` would remove other blanks, too. */
function trim(text) {
  let [start, end] = [0, text.length];
  while (text[start] === " " || text[start] === "\t") start += 1;
  while (end > start && (text[end - 1] === " " || text[end - 1] === "\t")) end -= 1;
  return text.slice(start, end);
}

function isSigned(signature, timestamp, rawBody, secrets) {
  if (signature.length > 16384) return false;
  let found = false;
  for (const secret of secrets) {
    const digest = createHmac("sha256", secret).update(`${timestamp}.`).update(rawBody).digest("hex");
    const expected = Buffer.from(`v1=${digest}`);
    for (const item of signature.split(",")) {
      const candidate = Buffer.from(trim(item));
      // In constant time; and all are compared, whichever is right.
      const equal = candidate.length === expected.length && timingSafeEqual(candidate, expected);
      found = equal || found;
    }
  }
  return found;
}

/** `JSON.parse`, without what it accepts beyond the contract: infinite numbers, half characters, repeated names. */
function parse(rawBody) {
  let event;
  let isUnique;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(rawBody);
    event = JSON.parse(text);
    isUnique = readTokens(text);
  } catch {
    throw new VerificationError("invalid_json");
  }
  refuseUnless(isUnique, "invalid_payload");
  return event;
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]|[-0-9][-+.0-9eE]*/g;

/** Whether all names in the root, in `merchant` and in `data` are different. Throws where the text must be refused. */
function readTokens(text) {
  const open = []; // for each open bracket: the names that must not be repeated there, or null
  let isUnique = true;
  let lastName;
  for (const [token, string, colon] of text.matchAll(TOKEN)) {
    if (string !== undefined) {
      const value = JSON.parse(string);
      if (!value.isWellFormed()) throw new SyntaxError("half of a surrogate pair");
      if (colon === undefined) continue;
      const names = open.at(-1);
      if (names?.has(value)) isUnique = false;
      names?.add(value);
      lastName = value;
    } else if (token === "{") {
      const isMember = open.length === 1 && open[0] !== null;
      const isKnown = open.length === 0 || (isMember && ["merchant", "data"].includes(lastName));
      open.push(isKnown ? new Set() : null);
    } else if (token === "[") {
      open.push(null);
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (!Number.isFinite(Number(token))) {
      throw new SyntaxError("not a number that a double can hold");
    }
    if (open.length > 127) throw new SyntaxError("nested too deeply");
  }
  return isUnique;
}

/** The members of the envelope, in the order of the codes. Unknown members and unknown types pass. */
function check(event) {
  refuseUnless(isObject(event), "invalid_payload");
  const { id, type, api_version, created_at, merchant, data } = event;
  for (const [name, isValid] of Object.entries(OPTIONAL)) {
    refuseUnless((event[name] ?? null) === null || isValid(event[name]), "invalid_payload");
  }
  refuseUnless(matches(id, /^evt_[0-9A-Za-z_-]{1,124}$/), "invalid_event_id");
  refuseUnless(matches(type, /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/) && type.length <= 128, "invalid_event_type");
  refuseUnless(matches(api_version, /^.{10}$/) && isTime(`${api_version}T00:00:00.000Z`), "invalid_api_version");
  refuseUnless(matches(created_at, /^.{24}$/) && isTime(created_at), "invalid_created_at");
  const hasMerchant = isObject(merchant) && matches(merchant.id, /^mer_[0-9A-Za-z_-]{1,124}$/);
  refuseUnless(hasMerchant && matches(merchant.slug, /^[^\x00-\x1f\x7f-\x9f]{1,128}$/u), "invalid_merchant");
  refuseUnless(isObject(data) && isObject(data.object), "invalid_data");
}

const isInteger = (value) => Number.isSafeInteger(value) && value >= 0;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const OPTIONAL = {
  sequence: isInteger,
  resource_version: isInteger,
  livemode: (value) => typeof value === "boolean",
  recipient: isObject,
  links: isObject,
};

/** `Date` alone would take the 30th of February and the hour 24. */
function isTime(text) {
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString() === text && text >= "0001";
}
