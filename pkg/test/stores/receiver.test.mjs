// What a receiver does with its claims: the cases that the brief expects of every receiver (contract 11.3), both ways of
// dealing with failures, and stores that fail. Over SQLite files, which every handle opens anew.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { createReceiver } from "verify-wasm";
import { createSqliteStore } from "verify-wasm/stores/sqlite";
import { SECRET, answered, delivery, eventText } from "./deliveries.mjs";
import { folder } from "./folder.mjs";
import { driver } from "./places.mjs";

/** A file, and receivers on it that write down what they acted on; `act` decides what becomes of it. */
function place(t) {
  const Database = driver();
  const path = join(folder(t), "claims.db");
  const acted = [];
  const reported = [];
  const connect = () => {
    const connection = new Database(path);
    t.after(() => connection.open && connection.close());
    return connection;
  };
  const receiver = ({ act = () => {}, connection = connect(), ...options } = {}) =>
    createReceiver({
      secret: SECRET,
      store: createSqliteStore(connection),
      onEvent(event, context) {
        acted.push(`${event.id} ${context.attempt}`);
        return act(event, context);
      },
      onError: (error, { code, eventId }) => void reported.push([code, eventId, error.message]),
      retryDelaySeconds: 0,
      ...options,
    });
  const records = () => {
    const rows = connect().prepare("SELECT id, status, attempts, last_error FROM webhook_claims ORDER BY id").all();
    return rows.map(({ id, status, attempts, last_error }) => [id, status, attempts, last_error]);
  };
  return { receiver, connect, acted, reported, records };
}

/** A promise, and what settles it. */
function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { open, opened };
}

const failsFirst = (_, { attempt }) => {
  if (attempt === 1) throw new Error("the shelf is empty");
};
const DONE = [200, "ok"];
const DUPLICATE = [200, "duplicate"];
const IN_PROGRESS = [500, "in_progress"];
const none = { processed: 0, failed: 0, running: 0 };

test("valid, altered, stale, and with an invalid id", async (t) => {
  const { receiver, acted, records } = place(t);
  const receive = receiver();
  const altered = delivery("evt_1");
  const forged = new Request(altered, { body: eventText("evt_1", { livemode: true }) });
  assert.deepEqual(await answered(await receive(forged)), [401, "invalid_signature"]);
  const stale = () => Date.now() - 301_000;
  assert.deepEqual(await answered(await receive(delivery("evt_1", { now: stale }))), [401, "stale_timestamp"]);
  assert.deepEqual(await answered(await receive(delivery("evt 1"))), [400, "invalid_event_id"]);
  const mismatched = delivery("evt_1");
  mismatched.headers.set("service-event-id", "evt_2");
  assert.deepEqual(await answered(await receive(mismatched)), [400, "event_id_mismatch"]);
  assert.deepEqual([acted, records()], [[], []]);

  assert.deepEqual(await answered(await receive(delivery("evt_1"))), DONE);
  assert.deepEqual([acted, records()], [["evt_1 1"], [["evt_1", "processed", 1, null]]]);
});

test("a duplicate: one record, 200 both times, one effect, in whichever process", async (t) => {
  const { receiver, acted, records } = place(t);
  const [one, another] = [receiver(), receiver({ onFailure: "ask-for-redelivery" })];
  assert.deepEqual(await answered(await one(delivery("evt_1"))), DONE);
  const later = () => Date.now() + 5000; // a redelivery has a signature of its own
  for (const receive of [one, another]) {
    assert.deepEqual(await answered(await receive(delivery("evt_1", { now: later }))), DUPLICATE);
  }
  assert.deepEqual([acted, records()], [["evt_1 1"], [["evt_1", "processed", 1, null]]]);
});

test("of twenty deliveries at once one has the effect", async (t) => {
  const { receiver, acted } = place(t);
  const receivers = [receiver(), receiver()];
  const answers = Array.from({ length: 20 }, async (_, n) => answered(await receivers[n % 2](delivery("evt_1"))));
  const codes = (await Promise.all(answers)).map(([status, code]) => `${status} ${code}`);
  assert.deepEqual(codes.sort(), [...Array(19).fill("200 duplicate"), "200 ok"]);
  assert.deepEqual(acted, ["evt_1 1"]);
});

test("a rotation: each receiver trusts what it knows, and the old secret ends", async (t) => {
  const { receiver } = place(t);
  const [old, fresh] = ["whsec_old", "whsec_new"];
  const forged = [401, "invalid_signature"];
  const trusting = (secret) => receiver({ secret });
  // During the overlap the sender signs with both.
  assert.deepEqual(await answered(await trusting(old)(delivery("evt_1", { secret: [fresh, old] }))), DONE);
  assert.deepEqual(await answered(await trusting(fresh)(delivery("evt_2", { secret: [fresh, old] }))), DONE);
  assert.deepEqual(await answered(await trusting([fresh, old])(delivery("evt_3", { secret: old }))), DONE);
  assert.deepEqual(await answered(await trusting([fresh, old])(delivery("evt_4", { secret: fresh }))), DONE);
  assert.deepEqual(await answered(await trusting(fresh)(delivery("evt_5", { secret: old }))), forged);
  assert.deepEqual(await answered(await trusting(old)(delivery("evt_5", { secret: fresh }))), forged);
});

test("a failure that is retried inside: 200, the record stays with its error, a redelivery is no effect", async (t) => {
  const { receiver, acted, reported, records } = place(t);
  const receive = receiver({ act: failsFirst });
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), DONE);
  assert.deepEqual(records(), [["evt_1", "error", 1, "Error: the shelf is empty"]]);
  assert.deepEqual(reported, [["processing_failed", "evt_1", "the shelf is empty"]]);
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), DUPLICATE);

  assert.deepEqual(await receive.retryPending(), { ...none, processed: 1 });
  assert.deepEqual(await receive.retryPending(), none);
  assert.deepEqual(acted, ["evt_1 1", "evt_1 2"]);
  assert.deepEqual(records(), [["evt_1", "processed", 2, "Error: the shelf is empty"]]);
});

test("a failure that asks for a redelivery: 500, and the redelivery is the next attempt", async (t) => {
  const { receiver, acted, records } = place(t);
  const receive = receiver({ act: failsFirst, onFailure: "ask-for-redelivery", retryDelaySeconds: 3600 });
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), [500, "processing_failed"]);
  assert.deepEqual(records(), [["evt_1", "error", 1, "Error: the shelf is empty"]]);
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), DONE);
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), DUPLICATE);
  assert.deepEqual(acted, ["evt_1 1", "evt_1 2"]);
});

test("what failed waits before it is tried again, and what always fails keeps nobody else waiting", async (t) => {
  const { receiver, acted, records } = place(t);
  const act = ({ id }, { attempt }) => {
    if (id === "evt_poison" || attempt === 1) throw new Error("x".repeat(5000));
  };
  const patient = receiver({ act, retryDelaySeconds: 3600 });
  await patient(delivery("evt_patient"));
  assert.deepEqual(await patient.retryPending(), none);

  const receive = receiver({ act });
  for (const id of ["evt_poison", "evt_a", "evt_b"]) await receive(delivery(id));
  for (let n = 0; n < 3; n += 1) await receive.retryPending({ limit: 1 }); // each in its turn
  assert.deepEqual(acted.slice(4).sort(), ["evt_a 2", "evt_b 2", "evt_poison 2"]);
  assert.deepEqual(await receive.retryPending(), { ...none, failed: 1 });
  const poison = records().find(([id]) => id === "evt_poison");
  assert.deepEqual(poison.slice(0, 3), ["evt_poison", "error", 3]);
  assert.equal(poison[3].length, 2000);
});

for (const [onFailure, meanwhile, atOnce] of [
  ["retry-internally", DUPLICATE, DONE],
  ["ask-for-redelivery", IN_PROGRESS, IN_PROGRESS],
]) {
  test(`while an event is worked on, nobody else begins (${onFailure})`, async (t) => {
    const { receiver, acted } = place(t);
    const [begun, end] = [gate(), gate()];
    const act = () => {
      begun.open();
      return end.opened;
    };
    const receive = receiver({ act, onFailure });
    const first = receive(delivery("evt_1"));
    await begun.opened;
    assert.deepEqual(await answered(await receiver({ onFailure })(delivery("evt_1"))), meanwhile);
    assert.deepEqual(await receiver({ onFailure }).retryPending(), none);
    end.open();
    assert.deepEqual(await answered(await first), DONE);
    assert.deepEqual(await answered(await receive(delivery("evt_1"))), DUPLICATE);
    assert.deepEqual(acted, ["evt_1 1"]);
  });

  test(`a handler that takes long goes on after the answer (${onFailure})`, async (t) => {
    const { receiver, connect, records } = place(t);
    const [end, noted] = [gate(), gate()];
    const store = createSqliteStore(connect());
    const complete = async (id) => {
      await store.complete(id);
      noted.open();
    };
    const receive = receiver({ act: () => end.opened, onFailure, answerWithinSeconds: 0.02, store: { ...store, complete } });
    assert.deepEqual(await answered(await receive(delivery("evt_1"))), atOnce);
    assert.deepEqual(records(), [["evt_1", "received", 1, null]]);
    end.open();
    await noted.opened;
    assert.deepEqual(records(), [["evt_1", "processed", 1, null]]);
    assert.deepEqual(await answered(await receive(delivery("evt_1"))), DUPLICATE);
  });

  test(`a handler that hangs loses its lease (${onFailure})`, async (t) => {
    const { receiver, acted, records, reported } = place(t);
    const late = gate();
    let reason;
    const act = (_, { attempt, signal }) => {
      if (attempt > 1) return undefined;
      signal.addEventListener("abort", () => (reason = signal.reason));
      return late.opened;
    };
    const receive = receiver({ act, onFailure, leaseSeconds: 0.02 });
    const failed = onFailure === "retry-internally" ? DONE : [500, "processing_failed"];
    assert.deepEqual(await answered(await receive(delivery("evt_1"))), failed);
    assert.equal(reason.name, "TimeoutError");
    const message = "onEvent did not finish within 0.02 seconds";
    assert.deepEqual(records(), [["evt_1", "error", 1, `TimeoutError: ${message}`]]);
    assert.deepEqual(reported, [["processing_failed", "evt_1", message]]);

    if (onFailure === "retry-internally") assert.deepEqual(await receive.retryPending(), { ...none, processed: 1 });
    else assert.deepEqual(await answered(await receive(delivery("evt_1"))), DONE);
    assert.deepEqual(acted, ["evt_1 1", "evt_1 2"]);
    late.open(); // that it ends after all changes nothing any more
    assert.deepEqual(await answered(await receive(delivery("evt_1"))), DUPLICATE);
  });
}

test("a handler that succeeds after it lost its lease has succeeded", async (t) => {
  const { receiver, connect, records, acted } = place(t);
  const [end, noted] = [gate(), gate()];
  const store = createSqliteStore(connect());
  const complete = async (id) => {
    await store.complete(id);
    noted.open();
  };
  const receive = receiver({ act: () => end.opened, leaseSeconds: 0.02, store: { ...store, complete } });
  await receive(delivery("evt_1"));
  assert.equal(records()[0][1], "error");
  end.open();
  await noted.opened;
  assert.deepEqual(await receive.retryPending(), none);
  assert.deepEqual([acted, records()[0][1]], [["evt_1 1"], "processed"]);
});

test("a store that is away: 503, no effect, and the redelivery is the first", async (t) => {
  const { receiver, connect, acted, reported } = place(t);
  const connection = connect();
  const receive = receiver({ connection });
  connection.exec("ALTER TABLE webhook_claims RENAME TO away");
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), [503, "storage_unavailable"]);
  assert.deepEqual(reported.map(([code, eventId]) => [code, eventId]), [["storage_unavailable", "evt_1"]]);
  await assert.rejects(receive.retryPending());
  await assert.rejects(receive.accept(JSON.parse(eventText("evt_1"))), /could not be claimed/);
  assert.deepEqual(acted, []);
  connection.exec("ALTER TABLE away RENAME TO webhook_claims");
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), DONE);
});

test("a store that does not answer: 503 in time, and the claim that it made after all is not lost", async (t) => {
  const { receiver, connect, acted } = place(t);
  const store = createSqliteStore(connect());
  const [answering, claimed] = [gate(), gate()];
  const claim = async (...values) => {
    const answer = await store.claim(...values);
    await answering.opened;
    claimed.open();
    return answer;
  };
  const receive = receiver({ store: { ...store, claim }, answerWithinSeconds: 0.02 });
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), [503, "storage_unavailable"]);
  assert.deepEqual(acted, []);
  answering.open();
  await claimed.opened;
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), DUPLICATE);
  assert.deepEqual(acted, ["evt_1 1"]);
});

for (const [onFailure, expected] of [
  ["retry-internally", DONE],
  ["ask-for-redelivery", [503, "storage_unavailable"]],
]) {
  test(`a store that goes away while the handler runs (${onFailure})`, async (t) => {
    const { receiver, connect, reported, records } = place(t);
    const connection = connect();
    const act = ({ id }) => {
      connection.close();
      if (id === "evt_fails") throw new Error("the shelf is empty");
    };
    const receive = receiver({ connection, act, onFailure });
    assert.deepEqual(await answered(await receive(delivery("evt_1"))), expected);
    assert.deepEqual(reported.map(([code]) => code), ["storage_unavailable"]);
    assert.deepEqual(records(), [["evt_1", "received", 1, null]]); // pending: nothing is lost

    const second = place(t);
    const other = second.connect();
    const failing = second.receiver({ connection: other, onFailure, act: () => (other.close(), Promise.reject(new Error("x"))) });
    const answer = onFailure === "retry-internally" ? DONE : [500, "processing_failed"];
    assert.deepEqual(await answered(await failing(delivery("evt_fails"))), answer);
    assert.deepEqual(second.reported.map(([code]) => code), ["processing_failed", "storage_unavailable"]);
    assert.deepEqual(second.records(), [["evt_fails", "received", 1, null]]);
  });
}

test("a claim that is stored before it is answered is acted on once", async (t) => {
  const whole = createSqliteStore(place(t).connect());
  const [stored, answer] = [gate(), gate()];
  const store = {
    claim: async (id, record) => {
      const claimed = await whole.claim(id, record);
      if (claimed === "first") {
        stored.open();
        await answer.opened;
      }
      return claimed;
    },
    complete: (id) => whole.complete(id),
    fail: (id, error) => whole.fail(id, error),
    pending: (limit) => whole.pending(limit),
  };
  const acted = [];
  const onEvent = ({ id }) => void acted.push(id);
  const receive = createReceiver({ secret: SECRET, store, onEvent, onFailure: "ask-for-redelivery" });
  const first = receive(delivery("evt_1"));
  await stored.opened;
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), IN_PROGRESS);
  answer.open();
  assert.deepEqual(await answered(await first), DONE);
  assert.deepEqual(acted, ["evt_1"]);
});

test("a store with the four methods of the contract will do for one process", async (t) => {
  const { connect } = place(t);
  for (const onFailure of ["retry-internally", "ask-for-redelivery"]) {
    const acted = [];
    const whole = createSqliteStore(connect(), { table: onFailure.replaceAll("-", "_") });
    const store = {
      claim: (id, record) => whole.claim(id, record),
      complete: (id) => whole.complete(id),
      fail: (id, error) => whole.fail(id, error),
      pending: (limit) => whole.pending(limit),
    };
    const [begun, end] = [gate(), gate()];
    const onEvent = ({ id }) => {
      acted.push(id);
      if (id === "evt_slow") {
        begun.open();
        return end.opened;
      }
      if (acted.filter((other) => other === id).length === 1) throw new Error("the shelf is empty");
    };
    const receive = createReceiver({ secret: SECRET, store, onEvent, onFailure, onError: () => {}, retryDelaySeconds: 0 });
    const slow = receive(delivery("evt_slow"));
    await begun.opened;
    // Another receiver of the process, and a program that catches up, know who is at work.
    const beside = createReceiver({ secret: SECRET, store, onEvent, onFailure });
    assert.deepEqual(await beside.retryPending(), none);
    const asks = onFailure === "ask-for-redelivery";
    assert.deepEqual(await answered(await receive(delivery("evt_1"))), asks ? [500, "processing_failed"] : DONE);
    assert.deepEqual(await answered(await receive(delivery("evt_slow"))), asks ? IN_PROGRESS : DUPLICATE);
    if (asks) assert.deepEqual(await answered(await receive(delivery("evt_1"))), DONE);
    else assert.deepEqual(await receive.retryPending(), { ...none, processed: 1 });
    end.open();
    assert.deepEqual(await answered(await slow), DONE);
    assert.deepEqual(await answered(await receive(delivery("evt_1"))), DUPLICATE);
    assert.deepEqual(acted, ["evt_slow", "evt_1", "evt_1"]);

    const patient = createReceiver({ secret: SECRET, store, onEvent, onError: () => {}, retryDelaySeconds: 3600 });
    await patient(delivery("evt_2"));
    assert.deepEqual(await patient.retryPending(), none);
    const restarted = createReceiver({ secret: SECRET, store: { ...store }, onEvent });
    assert.deepEqual(await restarted.retryPending(), { ...none, processed: 1 });
  }
});

test("after a downtime: 250 events in three pages, a crash before the cursor is saved, each id exactly once", async (t) => {
  const { receiver, acted, records } = place(t);
  const events = Array.from({ length: 250 }, (_, n) => JSON.parse(eventText(`evt_${n}`)));
  const api = await eventList(t, events);
  const saved = { cursor: "" };
  const catchUp = async (receive, crashAt = Infinity) => {
    for (let page = 1; saved.cursor !== null; page += 1) {
      const { data, next_cursor: next } = await (await fetch(`${api}/events?cursor=${saved.cursor}`)).json();
      for (const event of data) await receive.accept(event);
      if (page === crashAt) return;
      saved.cursor = next ?? null;
    }
  };

  await receiver()(delivery("evt_249")); // some come by themselves meanwhile
  await catchUp(receiver(), 2);
  assert.equal(saved.cursor, "100"); // the second page is done, and nobody wrote that down
  const last = receiver();
  await Promise.all([catchUp(last), last(delivery("evt_123")), last(delivery("evt_240"))]);

  assert.equal(saved.cursor, null);
  assert.deepEqual([...acted].sort(), events.map(({ id }) => `${id} 1`).sort());
  assert.equal(records().filter(([, status]) => status === "processed").length, 250);
});

test("an event of the list: its answers", async (t) => {
  const { receiver, acted } = place(t);
  const receive = receiver({ act: failsFirst });
  const event = JSON.parse(eventText("evt_1", { livemode: false }));
  assert.equal(await receive.accept(event), "pending");
  assert.equal(await receive.accept(event), "duplicate");
  assert.deepEqual(await answered(await receive(delivery("evt_1"))), DUPLICATE);
  assert.deepEqual(await receive.retryPending(), { ...none, processed: 1 });
  const asking = receiver({ act: failsFirst, onFailure: "ask-for-redelivery" });
  const second = JSON.parse(eventText("evt_2"));
  assert.deepEqual([await asking.accept(second), await asking.accept(second)], ["pending", "processed"]);
  assert.deepEqual(acted, ["evt_1 1", "evt_1 2", "evt_2 1", "evt_2 2"]);
});

/** `GET /events?cursor=N`, a hundred a page, as the Merchant API pages. */
async function eventList(t, events) {
  const server = createServer(({ url }, response) => {
    const at = Number(new URL(url, "http://api/").searchParams.get("cursor"));
    const next = at + 100 < events.length ? String(at + 100) : undefined;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ object: "list", data: events.slice(at, at + 100), next_cursor: next }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}
