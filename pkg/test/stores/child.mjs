// A receiver's process, for the tests that need more than one or that kill one.
//
//   child.mjs race KIND ADDRESS       says "ready", waits for a line, claims 200 ids and says how many it was first with
//   child.mjs claim KIND ADDRESS      claims evt_1, says "claimed" and does nothing more
//   child.mjs receive KIND ADDRESS    receives evt_1, says "acting" in the middle of onEvent and does nothing more

import { writeSync } from "node:fs";
import { once } from "node:events";
import { createReceiver } from "verify-wasm";
import { record } from "./conformance.mjs";
import { SECRET, delivery } from "./deliveries.mjs";
import { open } from "./places.mjs";

const [what, kind, address] = process.argv.slice(2);
const { store, close } = open[kind](address);

const say = (text) => writeSync(1, `${text}\n`);
/** Stops this process where it is; only a signal ends it. */
const halt = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);

if (what === "race") {
  say("ready");
  await once(process.stdin, "data");
  const claims = Array.from({ length: 200 }, (_, n) => store.claim(`evt_${n}`, record(), 0));
  say((await Promise.all(claims)).filter((claimed) => claimed === "first").length);
  await close();
  process.exit();
} else if (what === "claim") {
  await store.claim("evt_1", record(), 0);
  say("claimed");
  halt();
} else {
  const onEvent = () => {
    say("acting");
    halt();
  };
  await createReceiver({ secret: SECRET, store, onEvent, leaseSeconds: 0.001 })(delivery("evt_1"));
}
