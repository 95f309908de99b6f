// What the servers of these tests have in common: a handler that remembers, and the receiver or verifier before it.

import { Verifier, createReceiver } from "verify-wasm";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { BODY_BYTES_MAX, SECRET } from "./deliveries.mjs";

export const verifier = new Verifier(SECRET);
export const options = { maxBodyBytes: BODY_BYTES_MAX };

/** Remembers events. */
export function memory() {
  const events = [];
  return { take: (event) => void events.push(event), seen: async () => events };
}

/** A receiver whose effect is to remember. */
export function receiverInto({ take }) {
  return createReceiver({ secret: SECRET, store: createMemoryStore(), onEvent: take, ...options });
}

/** Makes a listening Node server one of these tests'. */
export async function listening(server, seen, path = "/webhooks") {
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { port: server.address().port, path, seen, close: () => stop(server) };
}

/** Ends a server and its connections. */
export function stop(server) {
  server.closeAllConnections();
  return new Promise((closed) => server.close(closed));
}
