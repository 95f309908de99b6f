// What a verifier can be made with, and what is refused when it is made.

import assert from "node:assert/strict";
import test from "node:test";
import { Verifier } from "verify-wasm";
import { valid } from "./vectors.cjs";

const secret = valid.secrets[0];

for (const [what, argument, options, error] of [
  ["a number as secret", 5, undefined, TypeError],
  ["an object as secret", {}, undefined, TypeError],
  ["a number among the secrets", [secret, 5], undefined, TypeError],
  ["nine secrets", Array(9).fill(secret), undefined, RangeError],
  ["nine unusable secrets", Array(9).fill(""), undefined, RangeError],
  ["null as options", secret, null, TypeError],
  ["a number as options", secret, 300, TypeError],
  ["a string as tolerance", secret, { toleranceSeconds: "300" }, TypeError],
  ["null as tolerance", secret, { toleranceSeconds: null }, TypeError],
  ["tolerance 0", secret, { toleranceSeconds: 0 }, RangeError],
  ["tolerance -1", secret, { toleranceSeconds: -1 }, RangeError],
  ["tolerance 3601", secret, { toleranceSeconds: 3601 }, RangeError],
  ["tolerance 1.5", secret, { toleranceSeconds: 1.5 }, RangeError],
  ["tolerance NaN", secret, { toleranceSeconds: NaN }, RangeError],
  ["tolerance Infinity", secret, { toleranceSeconds: Infinity }, RangeError],
  ["tolerance 2^32 + 300", secret, { toleranceSeconds: 2 ** 32 + 300 }, RangeError],
  ["a number as clock", secret, { now: 0 }, TypeError],
]) {
  test(`${what} is a ${error.name} at construction`, () => {
    assert.throws(() => new Verifier(argument, options), error);
  });
}

test("refusals say what is allowed", () => {
  assert.throws(() => new Verifier(Array(9).fill(secret)), { message: "at most 8 signing secrets can be trusted at once" });
  assert.throws(() => new Verifier(secret, { toleranceSeconds: 0 }), { message: "the tolerance must be 1 to 3600 seconds" });
});

test("eight secrets and both ends of the tolerance are accepted", () => {
  assert.ok(new Verifier(Array(8).fill(secret)));
  assert.ok(new Verifier(secret, { toleranceSeconds: 1 }));
  assert.ok(new Verifier(secret, { toleranceSeconds: 3600 }));
  assert.ok(new Verifier(secret, { toleranceSeconds: undefined, now: undefined }));
});

for (const missing of [undefined, null, "", [], [undefined], Array(1), [secret, ""], "whsec_", `${secret}\n`, `${secret}é`]) {
  test(`secret ${JSON.stringify(missing)} is answered with invalid_secret, not thrown`, () => {
    const verifier = new Verifier(missing, valid.options);
    assert.deepEqual(verifier.check(valid.body, valid.headers), { ok: false, code: "invalid_secret" });
  });
}

test("the default clock is the machine's and the default tolerance five minutes", () => {
  assert.deepEqual(new Verifier(secret).check(valid.body, valid.headers), { ok: false, code: "stale_timestamp" });
  const timestamp = Number(valid.headers["service-timestamp"]);
  const codeAt = (seconds, milliseconds = 0) => {
    const now = () => (timestamp + seconds) * 1000 + milliseconds;
    return new Verifier(secret, { now }).check(valid.body, valid.headers).code;
  };
  assert.equal(codeAt(300, 999), undefined);
  assert.equal(codeAt(301), "stale_timestamp");
  assert.equal(codeAt(-300), undefined);
  assert.equal(codeAt(-300, -1), "stale_timestamp");
});

for (const now of [NaN, Infinity, "1788264000000", new Date(1788264000000), 1788264000000n, undefined]) {
  test(`a clock that says ${String(now)} is a TypeError`, () => {
    const verifier = new Verifier(secret, { now: () => now });
    assert.throws(() => verifier.check(valid.body, valid.headers), TypeError);
  });
}

test("a clock may verify something itself", () => {
  const other = new Verifier(secret, valid.options);
  const now = () => {
    assert.equal(other.check(`${valid.body} `, valid.headers).code, "invalid_signature");
    return valid.options.now();
  };
  assert.equal(new Verifier(secret, { now }).check(valid.body, valid.headers).ok, true);
});
