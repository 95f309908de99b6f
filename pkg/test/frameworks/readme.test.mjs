// Every program that the README prints for a framework is run as it is printed there, and sent the delivery that the
// README sends. (Those for Next.js are run by the tests of Next.js.)

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SECRET } from "./deliveries.mjs";
import { programs } from "./readme.mjs";

const announce = new URL("announce.mjs", import.meta.url).href;
const env = { ...process.env, SIGNING_SECRET: SECRET };
const [receiver] = programs("Your first event");
const [sender] = programs("Send yourself one");

const appModule = `
  import "reflect-metadata";
  import { Module } from "@nestjs/common";
  export class AppModule {}
  Module({})(AppModule);
`;

/** A folder in which modules find the frameworks and the package. */
function folder(t, name, files) {
  const path = fileURLToPath(new URL(`node_modules/.readme/${name.replaceAll(/\W/g, "-")}`, import.meta.url));
  mkdirSync(path, { recursive: true });
  t.after(() => rmSync(path, { recursive: true }));
  writeFileSync(`${path}/package.json`, '{ "type": "module" }');
  for (const [file, text] of Object.entries(files)) writeFileSync(`${path}/${file}`, text);
  return path;
}

/** Starts the server, lets the sender send, and returns what both printed. */
async function tryOut(t, name, program) {
  const cwd = folder(t, name, { "receiver.js": receiver, "app.module.js": appModule, "server.js": program });
  const server = spawn(process.execPath, ["--import", announce, "server.js"], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => server.kill());
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const until = async (wanted) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the server ended before it said ${wanted}`);
      if (wanted.test(value)) return value;
    }
  };
  const port = (await until(/^listening on /)).match(/\d+/)[0];
  const words = ["--input-type=module", "--eval", sender.replace("localhost:3000", `localhost:${port}`)];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd, env });
  return { answer: stdout.trim(), line: await until(/^evt_/) };
}

const express = programs("Express");
for (const [name, printed, expected] of [
  ["Express 5", express, '200 {"code":"ok"}'],
  ["Express 4", express.map((program) => program.replace('from "express"', 'from "express4"')), '200 {"code":"ok"}'],
  ["Fastify", programs("Fastify"), '200 {"code":"ok"}'],
  ["Koa", programs("Koa"), '200 {"code":"ok"}'],
  ["Hono", programs("Hono"), '200 {"code":"ok"}'],
  ["NestJS", programs("NestJS"), '200 {"code":"ok"}'],
  ["node:http", programs("node:http"), '200 {"code":"ok"}'],
  ["Only verifying", programs("Only verifying").slice(0, 1), "202"],
]) {
  test(`the README's program for ${name}`, async (t) => {
    const [program, ...others] = printed;
    assert.deepEqual(others, []);
    const { answer, line } = await tryOut(t, name, program);
    assert.equal(answer, expected);
    assert.match(line, /^evt_[0-9]+ order\.confirmed$/);
  });
}
