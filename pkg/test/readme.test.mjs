// The README's receiver without an adapter, run as it is printed there.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createInterface } from "node:readline";
import test from "node:test";
import { sign } from "verify-wasm";

const SECRET = "whsec_of_this_test";
const body = JSON.stringify({
  id: "evt_readme",
  type: "order.confirmed",
  api_version: "2026-09-01",
  created_at: "2026-09-01T12:00:00.000Z",
  merchant: { id: "mer_1", slug: "a" },
  data: { object: {} },
});

test("the README's receiver accepts a delivery and refuses an altered one", async (t) => {
  const readme = readFileSync(new URL("node_modules/verify-wasm/README.md", import.meta.url), "utf8");
  const printed = readme.match(/Without an adapter[^]*?```js\n([^]*?)```/)[1];
  // Only the port differs: a free one, and told to this test.
  const source = printed.replace(".listen(3000);", '.listen(0, "127.0.0.1", function () { console.log(this.address().port); });');
  assert.notEqual(source, printed);

  const receiver = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    cwd: new URL(".", import.meta.url),
    env: { ...process.env, SIGNING_SECRET: SECRET },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => receiver.kill());
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  const port = Number((await lines.next()).value);

  const headers = sign(SECRET, body);
  assert.equal(await post(port, headers, body), 200);
  assert.equal((await lines.next()).value, "evt_readme order.confirmed");
  assert.equal(await post(port, headers, body.replace("evt_readme", "evt_forged")), 401);
  assert.equal(await post(port, headers, " ".repeat((1 << 20) + 1)), 413);
  await broken(port, headers);
  assert.equal(await post(port, headers, body), 200); // an upload that breaks off harms nobody else
});

test("the README's TypeScript is what is compiled", () => {
  const readme = readFileSync(new URL("node_modules/verify-wasm/README.md", import.meta.url), "utf8");
  const compiled = readFileSync(new URL("types/readme.ts", import.meta.url), "utf8");
  assert.equal(readme.match(/\n## Types\n[^]*?```ts\n([^]*?)```/)[1], compiled.slice(compiled.indexOf("\n\n") + 2));
});

async function broken(port, headers) {
  const outgoing = request({ port, host: "127.0.0.1", method: "POST", headers: { ...headers, "Content-Length": "100" } });
  outgoing.on("error", () => {}); // what the test provokes; `once` would reject with it
  outgoing.write("{", () => outgoing.destroy());
  await new Promise((resolve) => outgoing.on("close", resolve));
}

async function post(port, headers, content) {
  const outgoing = request({ port, host: "127.0.0.1", method: "POST", headers }).end(content);
  const [response] = await once(outgoing, "response");
  response.resume();
  await once(response, "end");
  return response.statusCode;
}
