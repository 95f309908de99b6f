// What holds for every delivery, tried on every single bit of one.

import assert from "node:assert/strict";
import test from "node:test";
import { Verifier, sign } from "verify-wasm";
import { valid } from "./vectors.cjs";

const { body, headers, secrets, options } = valid;
const verifier = new Verifier(secrets, options);
const [secret] = secrets;

/** Every copy of `bytes` with one bit changed. */
function* flips(bytes) {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const copy = Buffer.from(bytes);
    copy[bit >> 3] ^= 1 << (bit & 7);
    yield copy;
  }
}

test("no bit of the body can change", () => {
  let tried = 0;
  for (const altered of flips(body)) {
    assert.deepEqual(verifier.check(altered, headers), { ok: false, code: "invalid_signature" });
    tried += 1;
  }
  assert.equal(tried, 170 * 8);
});

for (const name of ["service-timestamp", "service-signature", "service-event-id"]) {
  test(`no bit of ${name} can change`, () => {
    let tried = 0;
    for (const altered of flips(Buffer.from(headers[name], "latin1"))) {
      const value = altered.toString("latin1");
      assert.equal(verifier.check(body, { ...headers, [name]: value }).ok, false, JSON.stringify(value));
      tried += 1;
    }
    assert.equal(tried, headers[name].length * 8);
  });
}

test("the order of secrets and of candidates is irrelevant", () => {
  const trusted = [secret, ...Array.from({ length: 7 }, (_, index) => `whsec_other${index}`)];
  const candidates = [headers["service-signature"], "v1=", "v0=x", `v1=${"0".repeat(64)}`, ""];
  for (let turn = 0; turn < trusted.length; turn += 1) {
    trusted.push(trusted.shift());
    candidates.push(candidates.shift());
    const signature = candidates.join(",");
    assert.equal(new Verifier(trusted, options).check(body, { ...headers, "service-signature": signature }).ok, true);
  }
});

test("what is signed is accepted for as long as the tolerance says, and no longer", () => {
  const signed = sign(secret, body, { now: () => 1788264000000 });
  for (const toleranceSeconds of [1, 2, 299, 300, 3599, 3600]) {
    const codeAt = (seconds) => {
      const now = () => (1788264000 + seconds) * 1000;
      return new Verifier(secret, { toleranceSeconds, now }).check(body, signed).code;
    };
    for (const direction of [-1, 1]) {
      assert.equal(codeAt(direction * toleranceSeconds), undefined);
      assert.equal(codeAt(direction * (toleranceSeconds + 1)), "stale_timestamp");
    }
  }
});
