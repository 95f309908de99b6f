// Uses the installed npm package in an otherwise empty project: `node package.mjs AUTHORITY` has the binary sign a
// delivery and the package verify it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { Verifier } from "verify-wasm";

const secret = `whsec_${"R".repeat(43)}`;
const body = JSON.stringify({
  id: "evt_release",
  type: "webhook.test",
  api_version: "2026-09-01",
  created_at: "2026-09-01T12:00:00.000Z",
  merchant: { id: "mer_1", slug: "a" },
  data: { object: {} },
});
const timestamp = String(Math.floor(Date.now() / 1000));
const words = ["sign", "--secret-env", "RELEASE_TEST_SECRET", "--timestamp", timestamp];
const env = { ...process.env, RELEASE_TEST_SECRET: secret };
const signature = execFileSync(process.argv[2], words, { input: body, env, encoding: "utf8" }).trim();
const headers = { "service-timestamp": timestamp, "service-signature": signature, "service-event-id": "evt_release" };

const verifier = new Verifier(secret);
assert.equal(verifier.verify(body, headers).id, "evt_release");
assert.throws(() => verifier.verify(body.replace("slug", "slvg"), headers), { code: "invalid_signature" });
console.log("the package verifies what the binary signs");
