// The sender's side, for a receiver's tests.

import { abandon, apiVersion, asciiText, core, places, shrink } from "./core.js";
import { writeForSigning } from "./delivery.js";
import { checkOptions } from "./known-options.js";
import { SERVICE } from "./profiles.js";
import { prepareSecrets, putInPlace, secretTexts } from "./secrets.js";
import type { RawBody, SignOptions, SignedHeaders } from "./types.js";

/**
 * Returns the headers with which the service would deliver `body` now.
 *
 * @param secret The signing secret, or several, newest first; the signature header then has one candidate for each.
 * @param body The exact body that will be sent.
 * @throws {TypeError} an argument has the wrong type, there is no such option, a secret is unusable, or the body has no
 *   `id` and none is given
 * @throws {RangeError} `now` cannot be written as ten digits of Unix seconds, or the body has more than 256 MiB
 */
export function sign(
  secret: string | readonly string[],
  body: Exclude<RawBody, null | undefined>,
  options: SignOptions = {},
): SignedHeaders {
  checkOptions(options, ["now", "eventId"]);
  if (body === null || body === undefined) throw new TypeError("body must be what will be sent, not absent");
  const { now = Date.now } = options;
  if (typeof now !== "function") throw new TypeError("now must be a function that returns Unix milliseconds");
  const timestamp = String(Math.floor(now() / 1000)).padStart(10, "0");
  if (!/^[0-9]{10}$/.test(timestamp)) throw new RangeError("now must return Unix milliseconds");

  const signature = signed(secret, body, timestamp);
  const event = parsed(body);
  const eventId = options.eventId ?? event["id"];
  if (typeof eventId !== "string") throw new TypeError("the body has no id: pass options.eventId");
  const version = event["api_version"];
  return {
    "Service-Event-Id": eventId,
    "Service-Timestamp": timestamp,
    "Service-Signature": signature,
    "Service-Version": typeof version === "string" ? version : apiVersion(),
  };
}

function signed(secret: string | readonly string[], body: RawBody, timestamp: string): string {
  const texts = secretTexts(secret);
  if (texts.length === 0) throw unusable();
  try {
    const delivery = writeForSigning(body, timestamp);
    const candidates = texts.map((text) => {
      const secrets = prepareSecrets([text], SERVICE);
      if (secrets.count === 0) throw unusable();
      putInPlace(secrets);
      return asciiText(places.exchange, core.sign(delivery.body));
    });
    return candidates.join(",");
  } catch (error) {
    abandon();
    throw error;
  } finally {
    shrink();
  }
}

function unusable(): TypeError {
  return new TypeError("the signing secret is missing or unusable");
}

/** The body's members, if it is a JSON object at all: a test may well sign something else. */
function parsed(body: Exclude<RawBody, null | undefined>): { [member: string]: unknown } {
  try {
    const text = typeof body === "string" ? body : new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(body);
    return { ...(JSON.parse(text) as object) };
  } catch {
    return {};
  }
}
