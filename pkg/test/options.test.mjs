// What a verifier can be made with, and what is refused when it is made.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { createReceiver, sign, Verifier } from "verify-wasm";
import { verified as verifiedInExpress } from "verify-wasm/express";
import { toListener, verified } from "verify-wasm/node";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { createPostgresStore } from "verify-wasm/stores/postgres";
import { createWorkersStore } from "verify-wasm/stores/workers";
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
  ["a string as bound", secret, { maxBodyBytes: "1mb" }, TypeError],
  ["null as bound", secret, { maxBodyBytes: null }, TypeError],
  ["bound 0", secret, { maxBodyBytes: 0 }, RangeError],
  ["bound 1.5", secret, { maxBodyBytes: 1.5 }, RangeError],
  ["bound NaN", secret, { maxBodyBytes: NaN }, RangeError],
  ["no bound", secret, { maxBodyBytes: Infinity }, RangeError],
  ["a bound above 256 MiB", secret, { maxBodyBytes: 2 ** 28 + 1 }, RangeError],
  ["a bound of 2^32 + 1", secret, { maxBodyBytes: 2 ** 32 + 1 }, RangeError],
  ["an option that does not exist", secret, { tolerance: 300 }, TypeError],
]) {
  test(`${what} is a ${error.name} at construction`, () => {
    assert.throws(() => new Verifier(argument, options), error);
  });
}

test("refusals say what is allowed", () => {
  assert.throws(() => new Verifier(Array(9).fill(secret)), { message: "at most 8 signing secrets can be trusted at once" });
  assert.throws(() => new Verifier(secret, { toleranceSeconds: 0 }), { message: "the tolerance must be 1 to 3600 seconds" });
  assert.throws(() => new Verifier(secret, { maxBodyBytes: 0 }), { message: "the bound for bodies must be 1 to 268435456 bytes" });
});

test("an option that does not exist is a TypeError wherever there are options, and the message names those that do", async () => {
  const verifier = new Verifier(secret);
  const store = createMemoryStore();
  const onEvent = () => {};
  const receiver = createReceiver({ secret, store, onEvent });
  const misspelt = { maxBodybytes: 1 };
  for (const make of [
    () => new Verifier(secret, misspelt),
    () => verifier.explain("", {}, misspelt),
    () => sign(secret, "{}", { eventId: "evt_1", ...misspelt }),
    () => createReceiver({ secret, store, onEvent, ...misspelt }),
    () => verified(verifier, onEvent, misspelt),
    () => toListener(receiver, misspelt),
    () => verifiedInExpress(verifier, onEvent, misspelt),
    () => createPostgresStore({ query() {} }, misspelt),
    () => createWorkersStore({ claims: { idFromName() {}, get() {} }, ...misspelt }),
  ]) {
    assert.throws(make, { name: "TypeError", message: /^unknown option maxBodybytes: / }, String(make));
  }
  await assert.rejects(receiver.retryPending(misspelt), { name: "TypeError", message: "unknown option maxBodybytes: the only one is limit" });
  assert.throws(() => new Verifier(secret, misspelt), {
    message: "unknown option maxBodybytes: there are profile, toleranceSeconds, maxBodyBytes, now",
  });
  assert.ok(verified(verifier, onEvent, { onError: onEvent, onRefused: onEvent, maxBodyBytes: 1 }));
});

test("a receiver that reads more than a verifier does by default also verifies it", async () => {
  const body = `${valid.body}`.padEnd((16 << 20) + 1);
  const events = [];
  const receiver = createReceiver({
    secret,
    store: createMemoryStore(),
    maxBodyBytes: 17 << 20,
    onEvent: ({ id }) => events.push(id),
  });
  const headers = { "content-type": "application/json", ...sign(secret, body) };
  const response = await receiver(new Request("https://receiver/", { method: "POST", headers, body }));
  assert.deepEqual([response.status, events], [200, ["evt_1"]]);
});

for (const [what, secrets, said] of [
  ["undefined", "undefined", /no signing secret is set/],
  ["an empty list", "[]", /no signing secret is set/],
  ["an empty text among others", '["whsec_a", ""]', /no signing secret is set/],
  ["what cannot be one", '"whsec_a\\n"', /a signing secret cannot be used/],
]) {
  test(`the console is told once that no delivery can be verified: ${what}`, () => {
    const script = `
      import { createReceiver, Verifier } from "verify-wasm";
      new Verifier("whsec_a");
      for (let round = 0; round < 3; round += 1) new Verifier(${secrets});
      createReceiver({ secret: ${secrets}, store: { claim() {}, complete() {}, fail() {}, pending() {} }, onEvent() {} });
    `;
    const words = ["--input-type=module", "--eval", script];
    const { stderr, status } = spawnSync(process.execPath, words, { cwd: new URL(".", import.meta.url), encoding: "utf8" });
    assert.deepEqual([status, stderr.trim().split("\n").length], [0, 1], stderr);
    assert.match(stderr, said);
    assert.match(stderr, /^verify-wasm: .* refused with invalid_secret/);
  });
}

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
