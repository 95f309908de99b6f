// The adapter of Next.js: route handlers and API routes, built and served as in production.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import test, { after } from "node:test";
import { fileURLToPath } from "node:url";
import { fulfilsTheContract } from "./contract.mjs";
import { BODY_BYTES_MAX, SECRET, deliver, eventText, send } from "./deliveries.mjs";
import { programs } from "./readme.mjs";

// What the README prints is part of the application.
const [receiver] = programs("Your first event");
const [route, apiRoute] = programs("Next.js");
for (const [file, text] of [
  ["receiver.js", receiver],
  ["app/webhooks/route.js", route],
  ["pages/api/webhooks.js", apiRoute],
]) {
  const path = new URL(`next-app/${file}`, import.meta.url);
  mkdirSync(new URL(".", path), { recursive: true });
  writeFileSync(path, text);
}

const cwd = fileURLToPath(new URL("next-app", import.meta.url));
const next = fileURLToPath(new URL("node_modules/next/dist/bin/next", import.meta.url));
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", SIGNING_SECRET: SECRET, BODY_BYTES_MAX };

/** Starts the built application; what it complains of is kept. */
async function serve() {
  const [code] = await once(spawn(process.execPath, [next, "build"], { cwd, env, stdio: "inherit" }), "exit");
  assert.equal(code, 0, "next build");
  const words = [next, "start", "--hostname", "127.0.0.1", "--port", "0"];
  const server = spawn(process.execPath, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let complaints = "";
  server.stderr.setEncoding("utf8").on("data", (text) => (complaints += text));
  for await (const line of createInterface({ input: server.stdout })) {
    const [, port] = line.match(/http:\/\/127\.0\.0\.1:(\d+)/) ?? [];
    if (port === undefined) continue;
    server.stdout.resume();
    return { port: Number(port), complaints: () => complaints, process: server };
  }
  throw new Error(`next start said nothing of a port: ${complaints}`);
}

const server = await serve();
after(async () => {
  server.process.kill();
  await once(server.process, "exit");
});
const seen = async () => JSON.parse((await send({ port: server.port, path: "/seen" }, { method: "GET" })).text);
const at = (path) => ({ port: server.port, path, seen, close() {} });

// Next.js itself answers methods for which a route has no handler, and takes in the upload of a route that has a proxy.
const uploads = ["receiver"];
fulfilsTheContract("Next.js route handler", (form) => at(`/${form}`), { methodNotAllowed: true, uploads });
fulfilsTheContract("Next.js API route", (form) => at(`/api/${form}`), { uploads });

for (const path of ["/webhooks", "/api/webhooks"]) {
  test(`the README's program for ${path} in Next.js`, async () => {
    const answer = await deliver(at(path), eventText());
    assert.deepEqual([answer.status, answer.code], [200, "ok"]);
  });
}

for (const [name, path, advice] of [
  ["route handler", "/trap", "something read the request's body before this handler. Hand the request over before request.json(), request.text() or anything else reads it."],
  ["API route", "/api/trap", "a body parser read and parsed it before this handler. Next.js parses the body of an API route unless the route's file says otherwise: add `export const config = { api: { bodyParser: false } };` to it."],
]) {
  test(`Next.js ${name}: a body that was parsed before is an error that says what to change`, async () => {
    const body = eventText();
    const answer = await deliver(at(path), body);
    assert.equal(answer.status, 500);
    assert.ok(server.complaints().includes(`The raw body of a webhook delivery is not available: ${advice}`), server.complaints());
    assert.equal((await seen()).some(({ id }) => id === JSON.parse(body).id), false);
  });
}
