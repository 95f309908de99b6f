// What every claim store must do, whatever it keeps its claims in.
//
// `open(t)` makes an empty place for claims and returns a function that opens a store on it; each call is another
// handle, as another process has. Time is not waited for: a lease of no length is over at once, one of an hour is not
// over before the test is.

import assert from "node:assert/strict";
import test from "node:test";

const HOUR_MS = 3_600_000;

/** A record; `body` may be anything, for a store does not look into it. */
export function record(more = {}) {
  return {
    type: "order.confirmed",
    createdAt: "2026-09-01T12:00:00.000Z",
    merchantId: "mer_1",
    livemode: true,
    receivedAt: 1_788_264_000_123,
    body: new TextEncoder().encode('{"id":"evt_1"}'),
    ...more,
  };
}

/** Registers the suite. */
export function conformance(name, open) {
  const check = (title, run) =>
    test(`${name}: ${title}`, async (t) => {
      const another = await open(t);
      await run(await another(), another);
    });

  check("of simultaneous claims of one id exactly one is first", async (store, another) => {
    const stores = [store, await another()];
    const claims = Array.from({ length: 20 }, (_, n) => stores[n % 2].claim("evt_1", record(), HOUR_MS));
    assert.deepEqual((await Promise.all(claims)).sort(), [...Array(19).fill("duplicate"), "first"]);
    assert.equal(await store.claim("evt_1", record()), "duplicate");
    assert.equal((await store.pending(10)).length, 1);
  });

  check("a claim is kept as it was made, to the byte", async (store, another) => {
    const large = Uint8Array.from({ length: 1 << 20 }, (_, n) => (n * 31) >> (n % 5));
    const records = [
      record({ livemode: false, body: large, type: "a.b_2.c", merchantId: "mer_-_Z9" }),
      record({ livemode: null, body: Uint8Array.of(0xef, 0xbb, 0xbf, 0, 0xff, 0x0d, 0x0a), receivedAt: 1 }),
      record({ createdAt: "0001-01-01T00:00:00.000Z", body: Buffer.from("a part of a pool") }),
    ];
    for (const [n, made] of records.entries()) {
      const before = Date.now();
      assert.equal(await store.claim(`evt_${n}`, made, HOUR_MS), "first");
      const found = (await (await another()).pending(10)).find(({ id }) => id === `evt_${n}`);
      const { dueAt, body, ...kept } = found;
      const { body: bytes, ...rest } = made;
      assert.deepEqual(kept, { ...rest, id: `evt_${n}`, status: "received", attempts: 1, lastError: null });
      assert.ok(body instanceof Uint8Array && Buffer.from(bytes).equals(body));
      // Another clock may be at work; both are of this machine.
      assert.ok(dueAt >= before + HOUR_MS - 1000 && dueAt <= Date.now() + HOUR_MS + 1000, `${dueAt}`);
    }
  });

  check("ids of every allowed form are told apart", async (store) => {
    const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_-abcdefghijklmnopqrstuvwxyz";
    const ids = [`evt_${alphabet}`, `evt_${"z".repeat(124)}`, `evt_${"Z".repeat(124)}`, "evt_-", "evt__", "evt_a", "evt_A"];
    for (const id of ids) assert.equal(await store.claim(id, record()), "first", id);
    for (const id of ids) assert.equal(await store.claim(id, record()), "duplicate", id);
    assert.deepEqual((await store.pending(100)).map(({ id }) => id).sort(), [...ids].sort());
  });

  check("what is completed is never taken up again", async (store, another) => {
    await store.claim("evt_1", record(), 0);
    await store.complete("evt_1");
    await store.complete("evt_1");
    await store.fail("evt_1", "too late", { attempt: 1 });
    assert.deepEqual(await (await another()).takeUp("evt_1", 0), { outcome: "finished" });
    assert.equal(await store.claim("evt_1", record()), "duplicate");
    assert.deepEqual(await store.pending(10), []);
  });

  check("what is leased is left alone, and what is due goes to one", async (store, another) => {
    const stores = [store, await another()];
    await store.claim("evt_leased", record(), HOUR_MS);
    assert.deepEqual(await stores[1].takeUp("evt_leased", 0), { outcome: "busy" });

    await store.claim("evt_due", record(), 0);
    const taken = await Promise.all(Array.from({ length: 20 }, (_, n) => stores[n % 2].takeUp("evt_due", HOUR_MS)));
    assert.deepEqual(taken.filter(({ outcome }) => outcome !== "busy"), [{ outcome: "taken", attempt: 2 }]);
    assert.equal(taken.length, 20);
    assert.deepEqual((await store.pending(10)).map(({ id, attempts }) => [id, attempts]), [["evt_leased", 1], ["evt_due", 2]]);
  });

  check("a failure is kept with its error, and waits as long as it was told", async (store, another) => {
    await store.claim("evt_1", record(), HOUR_MS);
    await store.fail("evt_1", "the bank’s door is closed\0\nfor good", { attempt: 1, retryAfterMs: HOUR_MS });
    const [{ status, lastError }] = await (await another()).pending(10);
    assert.deepEqual([status, lastError], ["error", "the bank’s door is closed\uFFFD\nfor good"]);
    assert.deepEqual(await store.takeUp("evt_1", 0), { outcome: "busy" });

    await store.fail("evt_1", "told without an attempt");
    assert.deepEqual(await store.takeUp("evt_1", HOUR_MS), { outcome: "taken", attempt: 2 });
    const [again] = await store.pending(10);
    assert.deepEqual([again.status, again.lastError, again.attempts], ["error", "told without an attempt", 2]);
    await store.complete("evt_1");
    assert.deepEqual(await store.pending(10), []);
  });

  check("an attempt that lost its lease cannot end the one that has it", async (store, another) => {
    await store.claim("evt_1", record(), 0);
    assert.deepEqual(await (await another()).takeUp("evt_1", HOUR_MS), { outcome: "taken", attempt: 2 });
    await store.fail("evt_1", "of the first attempt", { attempt: 1, retryAfterMs: 0 });
    assert.deepEqual(await store.takeUp("evt_1", 0), { outcome: "busy" });
    assert.equal((await store.pending(10))[0].lastError, null);
    await store.complete("evt_1"); // its effect has happened all the same
    assert.deepEqual(await store.takeUp("evt_1", 0), { outcome: "finished" });
  });

  check("unknown ids are nothing to do", async (store) => {
    await store.complete("evt_1");
    await store.fail("evt_1", "who?", { attempt: 1 });
    assert.deepEqual(await store.takeUp("evt_1", 0), { outcome: "finished" });
    assert.deepEqual(await store.pending(10), []);
  });

  check("the first due is pending first, so that no failure stands in the way of others", async (store) => {
    const ids = ["evt_poison", "evt_a", "evt_b", "evt_c"];
    for (const [n, id] of ids.entries()) await store.claim(id, record(), n * 1000);
    assert.deepEqual((await store.pending(2)).map(({ id }) => id), ["evt_poison", "evt_a"]);
    await store.fail("evt_poison", "again", { attempt: 1, retryAfterMs: HOUR_MS });
    assert.deepEqual((await store.pending(4)).map(({ id }) => id), ["evt_a", "evt_b", "evt_c", "evt_poison"]);
  });

  check("what is old and completed is removed, and nothing else", async (store, another) => {
    const old = record({ receivedAt: 1000 });
    for (const id of ["evt_done", "evt_open", "evt_failed"]) await store.claim(id, old, HOUR_MS);
    await store.claim("evt_new", record({ receivedAt: 2000 }), HOUR_MS);
    for (const id of ["evt_done", "evt_new"]) await store.complete(id);
    await store.fail("evt_failed", "x", { attempt: 1 });
    const other = await another();
    assert.equal(await other.purge(new Date(2000)), 1);
    assert.equal(await other.purge(new Date(2000)), 0);
    assert.deepEqual((await store.pending(10)).map(({ id }) => id).sort(), ["evt_failed", "evt_open"]);
    assert.equal(await store.claim("evt_new", record()), "duplicate");
  });

  check("a bound that is no time is refused", async (store) => {
    for (const before of [undefined, null, 5, "2026-09-01", new Date(NaN)]) {
      await assert.rejects(store.purge(before), { name: "TypeError" });
    }
  });
}

/** Of stores that remove in batches: as many claims as several of them. */
export function largePurge(name, open) {
  test(`${name}: more claims than one statement removes are removed`, async (t) => {
    const store = await (await open(t))();
    const ids = Array.from({ length: 2500 }, (_, n) => `evt_${n}`);
    for (const id of ids) await store.claim(id, record({ receivedAt: 1 }), HOUR_MS);
    for (const id of ids.slice(1)) await store.complete(id);
    assert.equal(await store.purge(new Date()), 2499);
    assert.deepEqual((await store.pending(10)).map(({ id }) => id), ["evt_0"]);
  });
}
