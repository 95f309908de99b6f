// A Worker that imports the package: the vectors come in, what it came to goes out.

import { CONTRACT_VERSION, VerificationError, Verifier, sign } from "verify-wasm";
import { judge } from "../judge.mjs";

export default {
  async fetch(request) {
    const { cases } = await request.json();
    return Response.json(judge({ CONTRACT_VERSION, VerificationError, Verifier, sign }, cases));
  },
};
