// A receiver with its claims in SQLite: the runtime's own, opened in the runtime's own way. The file is named; what the
// deliveries were answered, and what is pending, is printed.

import { createReceiver, sign } from "verify-wasm";
import { createSqliteStore } from "verify-wasm/stores/sqlite";

const [path] = process.argv.slice(2);
const secret = "whsec_of_this_program";
const opened = async () => (process.versions.bun ? new (await import("bun:sqlite")).Database(path) : path);

const receiver = createReceiver({
  secret,
  store: createSqliteStore(await opened()),
  retryDelaySeconds: 0,
  onError: () => {},
  onEvent(event, { attempt }) {
    if (event.id === "evt_fails" && attempt === 1) throw new Error("the first time always fails");
  },
});

const answers = [];
for (const id of ["evt_1", "evt_1", "evt_fails"]) {
  const body = JSON.stringify({
    id,
    type: "order.confirmed",
    api_version: "2026-09-01",
    created_at: "2026-09-01T12:00:00.000Z",
    merchant: { id: "mer_1", slug: "é" },
    data: { object: {} },
  });
  const headers = { "content-type": "application/json", ...sign(secret, body) };
  const response = await receiver(new Request("http://receiver/", { method: "POST", headers, body }));
  answers.push(`${response.status} ${(await response.json()).code}`);
}
console.log(JSON.stringify({ answers, retried: [await receiver.retryPending(), await receiver.retryPending()] }));
