// A real authority for the tests of its documents: a process with a database file of its own, an operator's key, a
// merchant, a test key with every scope. It ends with the test.

import { execFileSync, spawn } from "node:child_process";
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

/** Starts it. `end` stops it, and fails when it did not stop as it should. */
export async function authority(name = "acme") {
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
  const settings = { slug: name, name, default_currency: "USD" };
  const merchant = await operator("POST", "/merchants", settings);
  const key = await operator("POST", `/merchants/${merchant.id}/api-keys`, { name, mode: "test", scopes: SCOPES });
  return {
    merchantApi, operatorApi, operatorKey, operator, merchantId: merchant.id, key: key.key, keyId: key.id,
    merchant: (method, path, body) => asked(merchantApi, key.key, method, `/v1/merchant${path}`, body),
    sandbox: (method, path, body) => asked(merchantApi, key.key, method, `/v1/sandbox${path}`, body),
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
