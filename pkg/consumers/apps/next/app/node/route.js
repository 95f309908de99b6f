// A route in Node, where Next.js bundles the package into the server's code.

import { VerificationError, Verifier, createReceiver, sign } from "verify-wasm";
import "verify-wasm/explain";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { judge } from "../../../judge.mjs";

const exported = { VerificationError, Verifier, createMemoryStore, createReceiver, sign };

export const runtime = "nodejs";

export async function POST(request) {
  const { cases } = await request.json();
  return Response.json(await judge(exported, cases));
}
