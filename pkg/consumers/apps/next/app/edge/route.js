// A route in the Edge runtime, which the package's `edge-light` condition is for.

import { VerificationError, Verifier, createReceiver, sign } from "verify-wasm";
import "verify-wasm/explain";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { judge } from "../../../judge.mjs";

const exported = { VerificationError, Verifier, createMemoryStore, createReceiver, sign };

export const runtime = "edge";

export async function POST(request) {
  const { cases } = await request.json();
  return Response.json(await judge(exported, cases));
}
