// The README, block by block: the demo, the receiver in a few lines, and the authority as it is run for real.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { machine, TIMEOUT } from "./machine.mjs";

test("every block of the README", { timeout: TIMEOUT }, async (t) => {
  const here = await machine(t);
  const readme = here.document("README.md");

  const demo = here.terminal("demo");
  await demo.until(/^Staying up; /m, demo.begin(readme.commands()));
  assert.equal(await demo.interrupt(), 0);
  assert.match(await here.terminal("checks").run(readme.commands()), /^cargo xtask test is what \.ci\/run executes$/m);

  const program = readme.program("receiver.mjs");
  const receiver = here.terminal("receiver");
  await receiver.run(readme.commands());
  here.save("receiver/receiver.mjs", program);
  await isVerified(t, here, receiver, readme.commands());

  const service = here.terminal("service");
  await service.until(/^\{"ready":true,/m, service.begin(readme.commands()));
  const mode = statSync(here.path("/etc/authority/env")).mode & 0o777;
  assert.equal(mode, 0o600, "the file with the key is closed to others");
  const shown = await here.terminal("merchant").run(readme.commands());
  assert.match(shown, /"secret":"whsec_[0-9A-Za-z]{43}"/);
  assert.match(shown, /^evt_[0-9a-z]{26}$/m);
  assert.equal(await service.interrupt(), 0);
  readme.isDone();
});

/** The receiver takes a delivery that is signed with its secret, and no other. */
async function isVerified(t, here, receiver, commands) {
  const from = receiver.begin(commands);
  await here.accepts(3000);
  const { sign } = await import(pathToFileURL(`${here.folder}/checkout/pkg/dist/esm/node.js`));
  const [, secret] = commands.match(/SIGNING_SECRET=(\S+)/);
  const body = JSON.stringify({
    id: "evt_1",
    type: "order.confirmed",
    api_version: "2026-09-01",
    created_at: "2026-09-01T12:00:00.000Z",
    merchant: { id: "mer_1", slug: "example" },
    data: { object: {} },
  });
  const send = (signedWith) =>
    fetch(`http://127.0.0.1:${here.port(3000)}/`, { method: "POST", headers: sign(signedWith, body), body });
  assert.equal((await send(secret)).status, 200);
  assert.equal((await send("whsec_another")).status, 401);
  const shown = await receiver.until(/^evt_1 order\.confirmed$/m, from);
  assert.equal(shown.match(/^evt_/gm).length, 1);
  await receiver.interrupt();
}
