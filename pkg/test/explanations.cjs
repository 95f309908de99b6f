// The table of causes that every build must agree on, in the form in which the package is called.
//
// It is made by the tests of `verify-wasm/explain`. CommonJS, so that the tests of both module systems load the same.

"use strict";

const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const file = JSON.parse(readFileSync(join(__dirname, "../../tests/vectors/explanations.json"), "utf8"));

/** Every cause that there is. */
exports.causes = file.causes;

/** All cases; the headers are pairs. */
exports.cases = file.cases.map((entry) => ({
  name: entry.name,
  code: entry.code,
  causes: entry.causes,
  evidence: entry.evidence,
  body: entry.body_base64 === null ? null : Buffer.from(entry.body_base64, "base64"),
  headers: [
    ["Service-Timestamp", entry.timestamp],
    ["Service-Signature", entry.signature],
    ["Service-Event-Id", entry.event_id],
    ...entry.lines,
  ].filter(([, value]) => value !== null),
  secrets: entry.secrets,
  otherSecrets: entry.other_secrets,
  options: { toleranceSeconds: entry.tolerance, maxBodyBytes: entry.max_body_bytes, now: () => entry.now * 1000 },
}));

/** What the table expects of a case, to be compared with an explanation's details. */
exports.expected = ({ code, causes, evidence }) => ({ code, causes, evidence });

/** Code, causes and evidence of an explanation. */
exports.details = (explanation) => ({
  ...exports.summary(explanation),
  evidence: explanation.causes.map(({ evidence }) => evidence),
});

/** Code and causes of an explanation. */
exports.summary = ({ code, causes }) => ({ code, causes: causes.map(({ cause }) => cause) });
