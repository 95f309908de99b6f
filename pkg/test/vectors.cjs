// The vectors that every build of the core must agree on, in the form in which the package is called.
//
// CommonJS, so that the tests of both module systems load the same file.

"use strict";

const { readFileSync } = require("node:fs");
const { join } = require("node:path");

/** All cases of `tests/vectors/verification.json`. */
exports.cases = read("verification", ["service-timestamp", "service-signature", "service-event-id"], {});

/** Those of `tests/vectors/standard_webhooks.json`, for that profile. */
exports.standard = read("standard_webhooks", ["webhook-timestamp", "webhook-signature", "webhook-id"], {
  profile: "standard-webhooks",
});

/** How many there are: a run that saw fewer has not seen all. */
exports.caseCount = 129;
exports.standardCount = 109;

/** A valid delivery, from which the tests make others. */
exports.valid = exports.cases.find((vector) => vector.name === "ok utf8 slug");

function read(file, names, profile) {
  const { cases } = JSON.parse(readFileSync(join(__dirname, `../../tests/vectors/${file}.json`), "utf8"));
  return cases.map((vector) => {
    const values = [vector.timestamp, vector.signature, vector.event_id];
    return {
      name: vector.name,
      expect: vector.expect,
      body: vector.body_base64 === null ? null : Buffer.from(vector.body_base64, "base64"),
      headers: Object.fromEntries(names.map((name, at) => [name, values[at]]).filter(([, value]) => value !== null)),
      secrets: vector.secrets,
      options: { ...profile, toleranceSeconds: vector.tolerance, now: () => vector.now * 1000 },
    };
  });
}
