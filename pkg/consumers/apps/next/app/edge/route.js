// A route in the Edge runtime, which the package's `edge-light` condition is for.

import { CONTRACT_VERSION, VerificationError, Verifier, sign } from "verify-wasm";
import { judge } from "../../../judge.mjs";

export const runtime = "edge";

export async function POST(request) {
  const { cases } = await request.json();
  return Response.json(judge({ CONTRACT_VERSION, VerificationError, Verifier, sign }, cases));
}
