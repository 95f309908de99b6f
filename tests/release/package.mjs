// Uses the installed npm package in an otherwise empty project: `node package.mjs AUTHORITY` has the binary sign a
// delivery and the package verify it.

import assert from "node:assert/strict";
import { Verifier } from "verify-wasm";
import { EVENT_ID, event, headers } from "./delivery.mjs";

const secret = `whsec_${"R".repeat(43)}`;
const signed = headers(process.argv[2], secret);
const verifier = new Verifier(secret);
assert.equal(verifier.verify(event, signed).id, EVENT_ID);
assert.throws(() => verifier.verify(event.replace("slug", "slvg"), signed), { code: "invalid_signature" });
console.log("the package verifies what the binary signs");
