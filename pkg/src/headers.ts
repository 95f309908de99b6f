// Finds the three headers of a delivery in whatever form the caller's framework has them. Their names are those of the
// verifier's profile.
//
// Several lines of one name become one value joined with ", ", in every form alike, so that a request with two
// `Service-Timestamp` lines gets the same verdict everywhere (contract 10.1). Outer blanks of a line are not
// looked for: HTTP parsers remove them, and `Headers` does so itself.

import type { HeaderNames } from "./profiles.js";
import type { FetchHeaders, RequestHeaders } from "./types.js";

/** The values of the three headers; `null` when there is no such line. */
export interface DeliveryHeaders {
  timestamp: string | null;
  signature: string | null;
  eventId: string | null;
}

/** The length of two of the names in either profile. */
const NAME_LENGTH = 17;

const FORMS = "headers must be a Headers object, Node's request.headers, or an array of [name, value] pairs";

/** Reads the headers, or throws a `TypeError` that says which form was expected. */
export function deliveryHeaders(headers: RequestHeaders, names: HeaderNames): DeliveryHeaders {
  if (typeof headers !== "object" || headers === null) throw new TypeError(FORMS);
  if (hasHeaders(headers)) throw new TypeError(`${FORMS}; this is a whole request: hand in its headers (request.headers)`);
  if (isFetchHeaders(headers)) {
    const value = (name: string) => {
      const line: unknown = headers.get(name);
      return line === null || line === undefined ? null : joined(null, name, line);
    };
    return { timestamp: value(names.timestamp), signature: value(names.signature), eventId: value(names.eventId) };
  }
  const found: DeliveryHeaders = { timestamp: null, signature: null, eventId: null };
  if (isIterable(headers)) {
    for (const pair of headers) {
      if (!Array.isArray(pair) || pair.length !== 2) {
        throw new TypeError("headers given as a list must consist of [name, value] pairs; request.rawHeaders does not");
      }
      addLine(found, names, pair[0], pair[1]);
    }
    return found;
  }
  for (const name of Object.keys(headers)) {
    // The names have two lengths: most headers are passed over without looking closer.
    if (name.length !== NAME_LENGTH && name.length !== names.eventId.length) continue;
    const value = headers[name];
    if (Array.isArray(value)) {
      for (const line of value) addLine(found, names, name, line);
    } else if (value !== undefined) {
      addLine(found, names, name, value);
    }
  }
  return found;
}

function addLine(found: DeliveryHeaders, names: HeaderNames, name: unknown, value: unknown): void {
  if (typeof name !== "string") throw new TypeError("a header's name must be a string");
  // In lower case already, as most are: making them so would take longer than all else here.
  const isLower = name === names.timestamp || name === names.signature || name === names.eventId;
  switch (isLower ? name : name.toLowerCase()) {
    case names.timestamp:
      found.timestamp = joined(found.timestamp, name, value);
      break;
    case names.signature:
      found.signature = joined(found.signature, name, value);
      break;
    case names.eventId:
      found.eventId = joined(found.eventId, name, value);
      break;
  }
}

function joined(before: string | null, name: string, value: unknown): string {
  if (typeof value !== "string") throw new TypeError(`the value of header ${name} must be a string`);
  return before === null ? value : `${before}, ${value}`;
}

/** Whether this is a `Request`, Node's request or a response: of a header by that name the value is a text, or several. */
function hasHeaders(value: object): boolean {
  const { headers } = value as { headers?: unknown };
  return typeof headers === "object" && headers !== null && !Array.isArray(headers);
}

function isFetchHeaders(headers: object): headers is FetchHeaders {
  const { get, append } = headers as Partial<FetchHeaders>;
  return typeof get === "function" && typeof append === "function";
}

function isIterable(headers: object): headers is Iterable<unknown> {
  return Symbol.iterator in headers;
}
