// Deliveries that are far too large, each followed by one that is not: prints what became of them. The bodies are memory
// that nobody touches, which costs nothing.

import { Verifier, sign } from "verify-wasm";

const SECRET = "whsec_of_these_consumers";
const body = JSON.stringify({
  id: "evt_1",
  type: "webhook.test",
  api_version: "2026-09-01",
  created_at: "2026-09-01T12:00:00.000Z",
  merchant: { id: "mer_1", slug: "a" },
  data: { object: {} },
});
const headers = sign(SECRET, body);
const verifier = new Verifier(SECRET);
const permissive = new Verifier(SECRET, { maxBodyBytes: 256 * 1024 * 1024 });
const code = (content, those, by = verifier) => by.check(content, those).code ?? "ok";

const large = {
  "Buffer of 2^31 - 48 bytes": () => Buffer.alloc(2 ** 31 - 48),
  "ArrayBuffer of 2^31 bytes": () => new ArrayBuffer(2 ** 31),
  "text of 2^28 characters": () => "x".repeat(2 ** 28),
};
const answers = {};
for (const [name, make] of Object.entries(large)) answers[name] = [code(make(), headers), code(body, headers), code(Buffer.from(body), headers)];

// One that is verified to its last byte, as its receiver wants it.
const long = Buffer.alloc(32 * 1024 * 1024, " ");
long.write(body);
answers["32 MiB that are verified"] = [code(long, sign(SECRET, long), permissive), code(long, headers, permissive), code(body, headers, permissive)];
answers["a header of 2^26 characters"] = [code(body, { ...headers, "Service-Signature": "x".repeat(2 ** 26) }), code(body, headers)];
console.log(JSON.stringify(answers));
