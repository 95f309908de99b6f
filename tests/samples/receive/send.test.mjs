// `send.sh` signs as the service does: a receiver made of the sample in JavaScript takes what it sends, and refuses it
// under another secret. It needs openssl and curl, so it runs with the proof alone.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { VerificationError, verify } from "../../../docs/receive/verify.mjs";
import { vectors } from "./cases.mjs";

const { SAMPLE_BUILDS } = process.env;
const SCRIPT = fileURLToPath(new URL("../../../docs/receive/send.sh", import.meta.url));
const SECRET = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";

async function answer(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = verify(Buffer.concat(chunks), request.headers, [SECRET], Math.floor(Date.now() / 1000));
    response.writeHead(200).end(event.id);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    response.writeHead(401).end(error.code);
  }
}

async function send(url, body, secret) {
  const file = `${SAMPLE_BUILDS}/event.json`;
  writeFileSync(file, body);
  const env = { ...process.env, SIGNING_SECRET: secret };
  const { stdout } = await promisify(execFile)(SCRIPT, [url, file], { env });
  const [head, text] = stdout.split("\r\n\r\n");
  return `${head.split(" ")[1]} ${text}`;
}

test("a receiver takes what the script sends", async (t) => {
  const server = createServer(answer).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}/webhooks`;
  const valid = vectors().filter(({ expect }) => expect.includes('"id":"evt_1"'));
  assert.ok(valid.length > 5);
  const body = ({ line }) => Buffer.from(line.split("\t")[0], "base64");
  for (const each of valid) assert.equal(await send(url, body(each), SECRET), "200 evt_1", each.name);
  assert.equal(await send(url, body(valid[0]), `${SECRET}x`), "401 invalid_signature");
  assert.equal(await send(url, body(valid[0]), "whsec_!"), "401 invalid_signature");
});
