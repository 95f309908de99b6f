// Writes the examples of the OpenAPI documents: a shop does business with its platform, a partner and a receiver, all by
// a real authority, and what that answers and sends is kept. `cargo xtask examples` runs it; the Rust tests of the
// documents hold every example to its schema.
//
// Two things are not kept as they were: what is shown only once (keys, secrets) is cut short, and the receiver, which
// listens on this machine, is called by a name such as receivers have.

import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { events } from "./examples/events.mjs";
import { records } from "./examples/records.mjs";
import { authority } from "./authority.mjs";

const folder = new URL("../../authority/openapi/src/", import.meta.url);
const receiver = await listening();
const service = await authority("acme", { AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS: "true" });
try {
  write("examples.json", await records(service, receiver.url));
  write("events.json", await events(service));
} finally {
  await service.end();
  receiver.close();
}

/** A receiver that takes everything. */
async function listening() {
  const server = createServer((request, response) => request.resume().on("end", () => response.end()));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

function write(file, examples) {
  const sorted = Object.fromEntries(Object.entries(examples).sort(([one], [other]) => (one < other ? -1 : 1)));
  const text = JSON.stringify(sorted, null, 2)
    .replaceAll(receiver.url, "https://shop.example.com")
    .replaceAll(/"(svc_test_|whsec_)[0-9A-Za-z]{20,}"/g, '"$1…"')
    .replaceAll(/"http:\/\/127\.0\.0\.1:\d+(\/portal\/enter\/)[0-9a-f]+"/g, '"https://commerce.example.com$1…"');
  writeFileSync(new URL(file, folder), `${text}\n`);
}
