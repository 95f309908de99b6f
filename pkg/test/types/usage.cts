// Compiled, never run: the declarations that CommonJS gets.

import verify = require("verify-wasm");

const verifier: verify.Verifier = new verify.Verifier("whsec_x");
export const id: string = verifier.verify(Buffer.from("{}"), { "service-timestamp": ["1"] }).id;
// @ts-expect-error a parsed body cannot be verified
verifier.check({}, {});
