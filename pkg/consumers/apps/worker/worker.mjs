// A Worker that imports the package: the vectors come in, what it came to goes out.

import { VerificationError, Verifier, createReceiver, sign } from "verify-wasm";
import "verify-wasm/explain";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { judge } from "../judge.mjs";

const exported = { VerificationError, Verifier, createMemoryStore, createReceiver, sign };

export default {
  async fetch(request) {
    const { cases } = await request.json();
    return Response.json(await judge(exported, cases));
  },
};
