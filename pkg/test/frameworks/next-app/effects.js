// What the routes' handlers saw; one process serves them all, but each is a bundle of its own.

import { Verifier, createReceiver } from "verify-wasm";
import { createMemoryStore } from "verify-wasm/stores/memory";

globalThis.eventsSeen ??= [];

export const take = (event) => void globalThis.eventsSeen.push(event);
export const seen = () => globalThis.eventsSeen;

export const verifier = new Verifier(process.env.SIGNING_SECRET);
export const options = { maxBodyBytes: Number(process.env.BODY_BYTES_MAX) };
export const receiver = createReceiver({
  secret: process.env.SIGNING_SECRET,
  store: createMemoryStore(),
  onEvent: take,
  ...options,
});
