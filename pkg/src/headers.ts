// Finds the three headers of a delivery in whatever form the caller's framework has them.
//
// Several lines of one name become one value joined with ", ", in every form alike, so that a request with two
// `Service-Timestamp` lines gets the same verdict everywhere (contract 10.1). Outer blanks of a line are not
// looked for: HTTP parsers remove them, and `Headers` does so itself.

import type { FetchHeaders, RequestHeaders } from "./types.js";

/** The values of the three headers; `null` when there is no such line. */
export interface DeliveryHeaders {
  timestamp: string | null;
  signature: string | null;
  eventId: string | null;
}

const TIMESTAMP = "service-timestamp";
const SIGNATURE = "service-signature";
const EVENT_ID = "service-event-id";

const FORMS = "headers must be a Headers object, Node's request.headers, or an array of [name, value] pairs";

/** Reads the headers, or throws a `TypeError` that says which form was expected. */
export function deliveryHeaders(headers: RequestHeaders): DeliveryHeaders {
  if (typeof headers !== "object" || headers === null) throw new TypeError(FORMS);
  if (hasHeaders(headers)) throw new TypeError(`${FORMS}; this is a whole request: hand in its headers (request.headers)`);
  if (isFetchHeaders(headers)) {
    const value = (name: string) => {
      const line: unknown = headers.get(name);
      return line === null || line === undefined ? null : joined(null, name, line);
    };
    return { timestamp: value(TIMESTAMP), signature: value(SIGNATURE), eventId: value(EVENT_ID) };
  }
  const found: DeliveryHeaders = { timestamp: null, signature: null, eventId: null };
  if (isIterable(headers)) {
    for (const pair of headers) {
      if (!Array.isArray(pair) || pair.length !== 2) {
        throw new TypeError("headers given as a list must consist of [name, value] pairs; request.rawHeaders does not");
      }
      addLine(found, pair[0], pair[1]);
    }
    return found;
  }
  for (const name of Object.keys(headers)) {
    // All three names have 16 or 17 letters: most headers are passed over without looking closer.
    if (name.length !== 16 && name.length !== 17) continue;
    const value = headers[name];
    if (Array.isArray(value)) {
      for (const line of value) addLine(found, name, line);
    } else if (value !== undefined) {
      addLine(found, name, value);
    }
  }
  return found;
}

function addLine(found: DeliveryHeaders, name: unknown, value: unknown): void {
  if (typeof name !== "string") throw new TypeError("a header's name must be a string");
  switch (name.toLowerCase()) {
    case TIMESTAMP:
      found.timestamp = joined(found.timestamp, name, value);
      break;
    case SIGNATURE:
      found.signature = joined(found.signature, name, value);
      break;
    case EVENT_ID:
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
