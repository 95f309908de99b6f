// What the client costs above `fetch` and `JSON.parse` by hand, beside stripe-node's cost on the same requests: processor
// time of the calling process. The server is a process of its own and sends the same bytes to all.
//
// Sides take turns in short rounds, so that what the machine does otherwise falls on all of them alike; the figures are
// medians over rounds, and the ratio is taken within each round.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import Stripe from "stripe";
import { Client } from "../../pkg/dist/esm/client/index.js";
import { transform } from "../../pkg/node_modules/esbuild/lib/main.js";

const ROUNDS = 60;
const CALLS = 250;
const AT_ONCE = 5;
const GOAL = 1.15;
const KEY = `svc_test_${"a".repeat(49)}`;

const server = spawn(process.execPath, [fileURLToPath(new URL("server.mjs", import.meta.url))], {
  stdio: ["ignore", "pipe", "inherit"],
});
const origin = await new Promise((resolve) => createInterface({ input: server.stdout }).once("line", resolve));
const { hostname, port } = new URL(origin);

const client = new Client({ apiKey: KEY, baseUrl: origin });
const stripe = new Stripe("sk_test_x", {
  host: hostname, port: Number(port), protocol: "http", telemetry: false, maxNetworkRetries: 2,
  httpClient: Stripe.createFetchHttpClient(),
});
const headers = { accept: "application/json", authorization: `Bearer ${KEY}`, "service-version": "2026-09-01" };
const body = { amount: 1500, reason: "damaged", note: "One of two arrived broken." };

async function byHand(path, init) {
  const response = await fetch(origin + path, init);
  if (!response.ok) throw new Error(String(response.status));
  return JSON.parse(await response.text());
}

const REQUESTS = [
  {
    name: "one order",
    sides: {
      "by hand": () => byHand("/v1/merchant/orders/ORD-100001", { headers }),
      client: () => client.orders.get("ORD-100001"),
      "stripe-node": () => stripe.customers.retrieve("ORD-100001"),
    },
  },
  {
    name: "a page of 25 orders",
    sides: {
      "by hand": () => byHand("/v1/merchant/orders?limit=25", { headers }),
      client: () => client.orders.list({ limit: 25 }).first(),
      "stripe-node": () => stripe.customers.list({ limit: 25 }),
    },
  },
  {
    name: "a refund",
    sides: {
      "by hand": () =>
        byHand("/v1/merchant/orders/ORD-100001/refunds", {
          method: "POST",
          headers: { ...headers, "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
          body: JSON.stringify(body),
        }),
      client: () => client.refunds.request("ORD-100001", body),
      "stripe-node": () => stripe.refunds.create({ amount: 1500, reason: "duplicate", metadata: { note: body.note } }),
    },
  },
];

/** Microseconds of processor time per call. */
async function measured(call) {
  let left = CALLS;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

console.log("| processor time per call, µs | by hand | client | stripe-node | client : by hand | stripe-node : by hand |");
console.log("|---|---:|---:|---:|---:|---:|");
for (const { name, sides } of REQUESTS) {
  const spent = Object.fromEntries(Object.keys(sides).map((side) => [side, []]));
  for (let round = -5; round < ROUNDS; round += 1) {
    const order = Object.entries(sides);
    if (round % 2 === 0) order.reverse();
    for (const [side, call] of order) {
      const cost = await measured(call);
      if (round >= 0) spent[side].push(cost);
    }
  }
  const ratio = (side) => median(spent[side].map((cost, round) => cost / spent["by hand"][round]));
  const costs = Object.values(spent).map((values) => median(values).toFixed(0));
  const judged = `${ratio("client").toFixed(2)} (at most ${GOAL}) ${ratio("client") <= GOAL ? "reached" : "MISSED"}`;
  console.log(`| ${name} | ${costs.join(" | ")} | ${judged} | ${ratio("stripe-node").toFixed(2)} |`);
}
server.kill();

const built = readFileSync(new URL("../../pkg/dist/esm/client/index.js", import.meta.url), "utf8");
const { code } = await transform(built, { minify: true, format: "esm" });
console.log(`\nThe client, all of it, gzip: ${gzipSync(code).length} bytes minified (at most 12288), ${gzipSync(built).length} as shipped`);
