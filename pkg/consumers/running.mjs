// Starts the consumers: with which runtime, in which folder, and how one waits for what they print.
//
// The runtimes are npm packages whose tarballs hold the program itself, for Linux on x64; elsewhere they are not
// installed, and their tests say so. The Node that runs the tests is one of the runtimes.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { judged } from "./apps/judge.mjs";

/** The folder of this file, of its apps, and of the package as it is installed for them. */
export const consumers = fileURLToPath(new URL(".", import.meta.url));
export const apps = `${consumers}apps`;
export const installed = `${apps}/node_modules/verify-wasm`;
/** The file with the vectors that every consumer judges. */
export const vectors = fileURLToPath(new URL("../../tests/vectors/verification.json", import.meta.url));

/** The tarball that was installed there. */
export const tarball = process.env["VERIFY_WASM_TARBALL"];

const PROGRAMS = {
  node22: "node-22/bin/node",
  node24: "node-24/bin/node",
  bun: "@oven/bun-linux-x64/bin/bun",
  deno: "@deno/linux-x64-glibc/deno",
};

/** Where the runtimes can be had, and what a test that needs one says elsewhere. */
export const elsewhere =
  process.platform === "linux" && process.arch === "x64" ? false : "this runtime is installed on Linux (x64) only";

/** The path of a runtime: `node` is the one that runs the tests. */
export function runtime(name) {
  if (name === "node") return process.execPath;
  const path = `${consumers}node_modules/${PROGRAMS[name]}`;
  assert.ok(existsSync(path), `${name} is not installed: ${path}`);
  return path;
}

/** A folder for what a test writes, gone when it has ended. */
export function temporaryFolder(t) {
  const path = mkdtempSync(join(tmpdir(), "verify-wasm-consumer-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** Runs a program to its end and returns what it printed. What it complained of is part of the error. */
export async function run(program, words, { cwd = apps, env = {} } = {}) {
  const options = { cwd, env: { ...process.env, ...quiet, ...env }, maxBuffer: 16 << 20 };
  const { stdout } = await promisify(execFile)(program, words, options);
  return stdout;
}

/** Runs a program that judges the vectors, and compares what it came to. */
export async function runJudge(program, words, options) {
  const printed = await run(program, [...words, vectors], options);
  assert.deepEqual(JSON.parse(printed), judged);
}

/**
 * Starts a server, waits for the line in which it says where it listens, and returns that address. The test's end is
 * the server's end.
 */
export function serve(t, program, words, { cwd, env = {} }) {
  const server = spawn(program, words, {
    cwd,
    env: { ...process.env, ...quiet, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill();
    await once(server, "exit");
  });
  // The pipe stays open and is read to the end: a server that cannot print any more would die of it.
  let printed = "";
  return new Promise((resolve, reject) => {
    server.stdout.on("data", (chunk) => {
      printed += chunk;
      const address = printed.match(/http:\/\/(?:localhost|127\.0\.0\.1):\d+/);
      if (address) resolve(address[0]);
    });
    server.on("error", reject);
    server.on("exit", () => reject(new Error(`the server ended without saying where it listens:\n${printed}`)));
  });
}

/**
 * Deno keeps compiled code by a file's path, time and length. Each package from a tarball has npm's one time, so code of the
 * build before would be run with the names of this one.
 */
const denoCache = mkdtempSync(join(tmpdir(), "consumers-deno-"));
process.on("exit", () => rmSync(denoCache, { recursive: true, force: true }));

/** Nothing is reported to anybody, and no colours get into what is read. */
const quiet = {
  DENO_DIR: denoCache,
  NEXT_TELEMETRY_DISABLED: "1",
  WRANGLER_SEND_METRICS: "false",
  DENO_NO_UPDATE_CHECK: "1",
  NO_COLOR: "1",
  FORCE_COLOR: "0",
};
