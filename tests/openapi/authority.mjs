// A real authority for the tests of its documents: a process with a database file of its own, an operator's key, a
// merchant, a test key with every scope. It ends with the test.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

const binary = process.env.AUTHORITY_BINARY;
if (!binary) throw new Error("AUTHORITY_BINARY names the program to be tested; `cargo xtask test api` sets it");

export const SCOPES = [
  "orders:read", "orders:write", "shipments:write", "payments:read", "refunds:read", "refunds:write",
  "subscriptions:read", "events:read", "webhooks:manage", "sync:read", "sync:write", "partners:read", "partners:write",
];

/** Starts it, with settings of its own. `end` stops it, and fails when it did not stop as it should. */
export async function authority(name = "acme", settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), "authority-openapi-"));
  const environment = {
    ...process.env,
    AUTHORITY_DATABASE_URL: `sqlite://${join(folder, "authority.db")}`,
    AUTHORITY_LISTEN: "127.0.0.1:0",
    AUTHORITY_OPERATOR_LISTEN: "127.0.0.1:0",
    AUTHORITY_SECRET_KEK: Buffer.alloc(32, 7).toString("base64"),
    AUTHORITY_RATE_LIMITS: "off",
    AUTHORITY_ENV: "development",
    AUTHORITY_LOG: "error",
    ...settings,
  };
  const service = spawn(binary, ["serve"], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => service.once("exit", (code, signal) => resolve(code ?? signal)));
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: service.stdout }).once("line", resolve);
    ended.then((how) => reject(new Error(`the authority ended (${how}) before it was ready`)));
  });
  const { merchant_api: merchantApi, operator_api: operatorApi } = JSON.parse(line);
  const issued = execFileSync(binary, ["operator-key", "create", "--name", "openapi", "--json"], { env: environment });
  const operatorKey = JSON.parse(issued).key;
  const operator = (method, path, body) => asked(operatorApi, operatorKey, method, `/v1/operator${path}`, body);
  const enter = async (slug) => {
    const { id } = await operator("POST", "/merchants", { slug, name: slug, default_currency: "USD" });
    const key = await operator("POST", `/merchants/${id}/api-keys`, { name: slug, mode: "test", scopes: SCOPES });
    const root = (path) => (method, below, body) => asked(merchantApi, key.key, method, path + below, body);
    return { merchantId: id, key: key.key, keyId: key.id, merchant: root("/v1/merchant"), sandbox: root("/v1/sandbox") };
  };
  return {
    merchantApi, operatorApi, operatorKey, operator, enter, ...await enter(name),
    eventTypes: () => {
      // Asked for a type that there is not, the program names those that there are.
      const { stderr } = spawnSync(binary, ["trigger", "?"], { encoding: "utf8" });
      return stderr.match(/must be one of (.+)/)[1].split(", ");
    },
    trigger: (type, key) =>
      execFileSync(binary, ["trigger", type, "--url", merchantApi], { env: { ...environment, AUTHORITY_API_KEY: key } }),
    isRunning: () => service.exitCode === null && service.signalCode === null,
    async end() {
      service.kill("SIGTERM");
      const how = await ended;
      rmSync(folder, { recursive: true, force: true });
      if (how !== 0) throw new Error(`the authority ended with ${how}`);
    },
  };
}

async function asked(base, key, method, path, body) {
  const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
  const response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
