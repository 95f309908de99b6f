// One delivery, signed by the released binary, for whoever verifies it.

import { execFileSync } from "node:child_process";

export const EVENT_ID = "evt_release";

export const event = JSON.stringify({
  id: EVENT_ID,
  type: "webhook.test",
  api_version: "2026-09-01",
  created_at: "2026-09-01T12:00:00.000Z",
  merchant: { id: "mer_1", slug: "a" },
  data: { object: {} },
});

/** The headers of a delivery of `event` that was signed `age` seconds ago by the binary `authority`. */
export function headers(authority, secret, age = 0) {
  const timestamp = String(Math.floor(Date.now() / 1000) - age);
  const words = ["sign", "--secret-env", "RELEASE_TEST_SECRET", "--timestamp", timestamp];
  const env = { ...process.env, RELEASE_TEST_SECRET: secret };
  const signature = execFileSync(authority, words, { input: event, env, encoding: "utf8" }).trim();
  return { "service-timestamp": timestamp, "service-signature": signature, "service-event-id": EVENT_ID };
}
