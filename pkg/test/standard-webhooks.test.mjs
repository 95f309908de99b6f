// The profile of Standard Webhooks: every vector, in every form of body and headers, and what the option allows.

import assert from "node:assert/strict";
import test from "node:test";
import { Verifier, VerificationError, createReceiver } from "verify-wasm";
import { createMemoryStore } from "verify-wasm/stores/memory";
import vectors from "./vectors.cjs";

const options = { profile: "standard-webhooks" };
const valid = vectors.standard.find(({ name }) => name === "ok utf8 slug");

test("all vectors get their verdict, in every form of headers", () => {
  let ran = 0;
  for (const { name, expect, body, headers, secrets, options } of vectors.standard) {
    const verifier = new Verifier(secrets, options);
    const pairs = Object.entries(headers).map(([header, value]) => [header.toUpperCase(), value]);
    const forms = [headers, pairs, Object.fromEntries(pairs)];
    // `Headers` removes outer blanks and refuses line ends, which no vector has.
    if (pairs.every(([, value]) => value.trim() === value)) forms.push(new Headers(pairs));
    for (const form of forms) {
      const result = verifier.check(body, form);
      assert.equal(result.ok ? "ok" : result.code, expect, name);
      if (result.ok) assert.deepEqual(result.event, JSON.parse(body.toString("utf8")), name);
      for (const method of ["verify", "verifyEnvelope"]) {
        try {
          verifier[method](body, form);
          assert.equal("ok", expect, `${method}: ${name}`);
        } catch (error) {
          assert.ok(error instanceof VerificationError, `${name}: ${error}`);
          assert.equal(error.code, expect, `${method}: ${name}`);
        }
      }
    }
    ran += 1;
  }
  assert.equal(ran, vectors.standardCount);
});

test("lines of one header are joined, and Service-* headers beside them decide nothing", () => {
  const { body, headers, secrets, options } = valid;
  const verifier = new Verifier(secrets, options);
  const wrong = `v1,${"A".repeat(43)}=`;
  for (const lines of [
    [wrong, headers["webhook-signature"]],
    [headers["webhook-signature"], wrong],
  ]) {
    assert.equal(verifier.check(body, { ...headers, "webhook-signature": lines }).ok, true);
  }
  const both = { ...headers, "service-timestamp": "1", "service-signature": "x", "service-event-id": "evt_9" };
  assert.equal(verifier.check(body, both).ok, true);
  const repeated = { ...headers, "webhook-timestamp": [headers["webhook-timestamp"], headers["webhook-timestamp"]] };
  assert.equal(verifier.check(body, repeated).code, "invalid_timestamp");
  // A verifier of the other profile sees a request without headers, and the other way round.
  const other = new Verifier(secrets, { now: options.now });
  assert.equal(other.check(body, headers).code, "invalid_timestamp");
  const { name: _, ...service } = vectors.valid;
  assert.equal(new Verifier(secrets, options).check(service.body, service.headers).code, "invalid_timestamp");
});

test("long bodies have the same verdicts as short ones, by both profiles in turn", () => {
  const long = vectors.standard.find(({ name }) => name === "ok long body");
  const verifiers = [
    [new Verifier(long.secrets, long.options), long],
    [new Verifier(vectors.valid.secrets, vectors.valid.options), vectors.valid],
  ];
  // More often than it takes the host's digests to be used.
  for (let turn = 0; turn < 20; turn += 1) {
    for (const [verifier, { body, headers }] of verifiers) {
      assert.equal(verifier.check(body, headers).ok, true);
      const altered = Buffer.from(body);
      altered[altered.length - 9] ^= 1;
      assert.equal(verifier.check(altered, headers).code, "invalid_signature");
    }
  }
});

test("a receiver takes a verifier of that profile", async () => {
  const seen = [];
  const verifier = new Verifier(valid.secrets, valid.options);
  const receiver = createReceiver({ verifier, store: createMemoryStore(), onEvent: (event) => seen.push(event.id) });
  const delivery = { method: "POST", contentType: "application/json", body: valid.body, headers: valid.headers };
  assert.equal((await receiver.receive(delivery)).status, 200);
  assert.equal((await receiver.receive({ ...delivery, headers: {} })).status, 400);
  assert.deepEqual(seen, ["evt_1"]);
});

test("the option is one of two words", () => {
  for (const profile of ["", "Standard-Webhooks", "standardwebhooks", null, 1, "__proto__"]) {
    assert.throws(
      () => new Verifier("whsec_AA==", { profile }),
      (error) => error instanceof TypeError && error.message === 'profile must be "service" or "standard-webhooks"',
    );
  }
  for (const profile of ["service", undefined]) {
    const verifier = new Verifier(vectors.valid.secrets, { ...vectors.valid.options, profile });
    assert.equal(verifier.check(vectors.valid.body, vectors.valid.headers).ok, true);
  }
});

test("explain says that it knows the other profile alone", () => {
  const verifier = new Verifier(valid.secrets, { ...options, now: valid.options.now });
  assert.throws(() => verifier.explain(valid.body, valid.headers), /explain knows the causes of the profile service alone/);
});
