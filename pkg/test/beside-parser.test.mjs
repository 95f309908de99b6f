// `verify` leaves the grammar of the event's inside to `JSON.parse`; `verifyEnvelope` does not. Whatever the text, and
// whatever is wrong with it, both give the same verdict.

import assert from "node:assert/strict";
import test from "node:test";
import { Verifier, VerificationError, sign } from "verify-wasm";

const SECRET = "whsec_beside_the_parser";
const TEXTS = 4000;
const verifier = new Verifier(SECRET);

/** What `JSON.parse` lets through or refuses, and what looks like it. */
const PIECES = [
  '"a":1,', '"name":"with \\"quotes\\" and \\\\",', '"b":[1,{"c":"]}"},[]],', '"u":"\\u00e9\\n",', '"pair":"\\ud83d\\uded2",',
  '"half":"\\ud800",', '"low":"x\\uDFFF",', '"e":1e999,', '"E":-1E+400,', '"f":1e5,', '"true":true,"false":false,',
  '"text":"1e999 {[",', '"slashes":"\\\\\\\\\\"",', '"__proto__":{"a":1},', '"twice":1,"twice":2,', '"empty":{},"none":[],',
  `"digits":${"9".repeat(400)},`, `"deep":${"[".repeat(125)}${"]".repeat(125)},`, `"deeper":${"[".repeat(126)}${"]".repeat(126)},`,
];
const WRONG = ['"open', "}", "]", "[", "{", ",", "\\", '"', "\u0001", "1e", "e", "01", '"\\ud83"', "\ufeff", "NaN,", "//"];

/** Numbers that look random and are the same in every run (Mulberry32). */
function generator(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function text(random) {
  const pieces = Array.from({ length: random(30) }, () => PIECES[random(random(3) === 0 ? PIECES.length : 5)]);
  if (random(2) === 0) pieces.splice(random(pieces.length + 1), 0, WRONG[random(WRONG.length)]);
  const object = `{${pieces.join("")}"end":"${"z".repeat(200 + random(100))}"}`;
  const members = [
    '"id":"evt_1"', '"type":"order.paid"', '"api_version":"2026-09-01"', '"created_at":"2026-09-01T12:00:00.000Z"',
    '"merchant":{"id":"mer_1","slug":"a"}', `"data":{"object":${object}}`,
  ];
  // Now and then a member is missing or there twice, so that a code of the members competes with one of the text.
  if (random(8) === 0) members.splice(random(members.length), 1);
  if (random(8) === 0) members.push(members[random(members.length)]);
  return `{${members.join(",")}}`;
}

function envelopeVerdict(body, headers) {
  try {
    return { ok: true, event: verifier.verifyEnvelope(body, headers).event };
  } catch (error) {
    assert.ok(error instanceof VerificationError, String(error));
    return { ok: false, code: error.code };
  }
}

test("verify and verifyEnvelope agree on every text", () => {
  const random = generator(20_260_901);
  const seen = new Map();
  for (let index = 0; index < TEXTS; index += 1) {
    const body = text(random);
    const headers = sign(SECRET, body, { eventId: "evt_1" });
    const expected = envelopeVerdict(body, headers);
    for (const form of [body, Buffer.from(body)]) assert.deepEqual(verifier.check(form, headers), expected, body);
    const verdict = expected.ok ? "ok" : expected.code;
    seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
  }
  for (const verdict of ["ok", "invalid_json", "invalid_payload", "invalid_event_id", "invalid_data"]) {
    assert.ok(seen.get(verdict) >= 5, `${verdict}: ${seen.get(verdict)}`);
  }
});
