// What must hold between processes: of a race, and after `kill -9` in the middle of the work.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import test from "node:test";
import { createReceiver } from "verify-wasm";
import { SECRET, answered, delivery, eventText } from "./deliveries.mjs";

const script = new URL("child.mjs", import.meta.url).pathname;

/** Registers the suite. `place(t)` makes an empty place and returns its address and a function that opens a store on it. */
export function betweenProcesses(name, kind, place) {
  test(`${name}: two processes share the ids between them`, async (t) => {
    const { address, another } = await place(t);
    const children = [child(t, "race", kind, address), child(t, "race", kind, address)];
    for (const { line } of children) assert.equal(await line(), "ready");
    for (const { process } of children) process.stdin.write("go\n");
    const firsts = [Number(await children[0].line()), Number(await children[1].line())];
    assert.equal(firsts[0] + firsts[1], 200);
    const ids = (await (await another()).pending(1000)).map(({ id }) => id);
    assert.equal(new Set(ids).size, 200);
    assert.equal(ids.length, 200);
  });

  test(`${name}: a claim survives the process that made it`, async (t) => {
    const { address, another } = await place(t);
    await killed(child(t, "claim", kind, address), "claimed");
    const store = await another();
    const [{ id, status, attempts }] = await store.pending(10);
    assert.deepEqual([id, status, attempts], ["evt_1", "received", 1]);
    assert.deepEqual(await store.takeUp("evt_1", 0), { outcome: "taken", attempt: 2 });
  });

  for (const onFailure of ["retry-internally", "ask-for-redelivery"]) {
    test(`${name}: an event whose process died in the middle is taken up once (${onFailure})`, async (t) => {
      const { address, another } = await place(t);
      await killed(child(t, "receive", kind, address), "acting");
      const acted = [];
      const onEvent = (event, { attempt }) => acted.push([event, attempt]);
      const receiver = createReceiver({ secret: SECRET, store: await another(), onEvent, onFailure });
      const redelivered = await Promise.all([1, 2, 3].map(async () => answered(await receiver(delivery("evt_1")))));
      const retried = await Promise.all([receiver.retryPending(), receiver.retryPending()]);

      assert.deepEqual(acted, [[JSON.parse(eventText("evt_1")), 2]]);
      assert.deepEqual(await answered(await receiver(delivery("evt_1"))), [200, "duplicate"]);
      const byRetry = retried[0].processed + retried[1].processed;
      if (onFailure === "retry-internally") {
        assert.deepEqual(redelivered, Array(3).fill([200, "duplicate"]));
        assert.equal(byRetry, 1);
      } else {
        // Who was not first among the three was told to come again, or that it is done, never that it is in no hands.
        assert.equal(redelivered.filter(([, code]) => code === "ok").length, 1);
        assert.ok(redelivered.every(([, code]) => ["ok", "duplicate", "in_progress"].includes(code)));
        assert.equal(byRetry, 0);
      }
    });
  }
}

function child(t, ...arguments_) {
  const process_ = spawn(process.execPath, [script, ...arguments_], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => process_.kill("SIGKILL"));
  const lines = createInterface({ input: process_.stdout })[Symbol.asyncIterator]();
  return { process: process_, line: async () => (await lines.next()).value };
}

async function killed({ process, line }, said) {
  assert.equal(await line(), said);
  process.kill("SIGKILL");
  await once(process, "exit");
}
