// The same as a CommonJS program. `judge` is an ES module and comes later; the package must be there at once.

"use strict";

const { readFileSync } = require("node:fs");
const process = require("node:process");
const { CONTRACT_VERSION, VerificationError, Verifier, sign } = require("verify-wasm");

const { cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
import("../judge.mjs").then(({ judge }) => {
  console.log(JSON.stringify(judge({ CONTRACT_VERSION, VerificationError, Verifier, sign }, cases)));
});
