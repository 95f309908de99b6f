// The vectors that every build of the core must agree on, in the form in which the package is called.
//
// CommonJS, so that the tests of both module systems load the same file.

"use strict";

const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const file = join(__dirname, "../../tests/vectors/verification.json");

/** All cases of `tests/vectors/verification.json`. */
exports.cases = JSON.parse(readFileSync(file, "utf8")).cases.map((vector) => ({
  name: vector.name,
  expect: vector.expect,
  body: vector.body_base64 === null ? null : Buffer.from(vector.body_base64, "base64"),
  headers: presentHeaders(vector),
  secrets: vector.secrets,
  options: { toleranceSeconds: vector.tolerance, now: () => vector.now * 1000 },
}));

/** How many there are: a run that saw fewer has not seen all. */
exports.caseCount = 129;

/** A valid delivery, from which the tests make others. */
exports.valid = exports.cases.find((vector) => vector.name === "ok utf8 slug");

function presentHeaders({ timestamp, signature, event_id: eventId }) {
  const headers = { "service-timestamp": timestamp, "service-signature": signature, "service-event-id": eventId };
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== null));
}
