// Runs a Worker that `npm create edge-receiver` made, as a merchant does: `node worker.mjs FOLDER AUTHORITY` starts
// `wrangler dev` in FOLDER, sends it deliveries that the binary AUTHORITY signed, and judges its answers.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { event, headers } from "./delivery.mjs";

const [folder, authority] = process.argv.slice(2);

// Base62, as the authority issues them: 43 characters.
const secret = `whsec_${[...randomBytes(43)].map((byte) => (byte % 36).toString(36)).join("")}`;

writeFileSync(join(folder, ".dev.vars"), `SIGNING_SECRET=${secret}\n`, { mode: 0o600 });
const wrangler = spawn(join(folder, "node_modules/.bin/wrangler"), ["dev", "--port", "0", "--ip", "127.0.0.1"], {
  cwd: folder,
  env: { ...process.env, CI: "true", WRANGLER_SEND_METRICS: "false" },
  stdio: ["ignore", "pipe", "inherit"],
});

// All that wrangler prints is read: its pipe must neither fill nor close.
/** The address that it prints when the Worker answers. */
const address = new Promise((resolve, reject) => {
  let printed = "";
  wrangler.stdout.setEncoding("utf8").on("data", (chunk) => {
    process.stdout.write(chunk);
    printed += chunk;
    const found = /Ready on (http:\S+)/.exec(printed);
    if (found !== null) resolve(found[1]);
  });
  wrangler.on("exit", () => reject(new Error("wrangler ended before the Worker answered")));
});

async function deliver(url, body, age = 0) {
  const answer = await fetch(`${url}/webhooks`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers(authority, secret, age) },
    body,
  });
  return [answer.status, (await answer.json()).code];
}

try {
  const url = await address;
  assert.deepEqual(await deliver(url, event), [200, "ok"]);
  assert.deepEqual(await deliver(url, event), [200, "duplicate"]);
  assert.deepEqual(await deliver(url, event.replace("slug", "slvg")), [401, "invalid_signature"]);
  assert.deepEqual(await deliver(url, event, 301), [401, "stale_timestamp"]);
  console.log("1 accepted, 1 duplicate, 2 refused, as expected");
} finally {
  wrangler.kill("SIGTERM");
}
