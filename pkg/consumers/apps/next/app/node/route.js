// A route in Node, where Next.js bundles the package into the server's code.

import { CONTRACT_VERSION, VerificationError, Verifier, sign } from "verify-wasm";
import { judge } from "../../../judge.mjs";

export const runtime = "nodejs";

export async function POST(request) {
  const { cases } = await request.json();
  return Response.json(judge({ CONTRACT_VERSION, VerificationError, Verifier, sign }, cases));
}
