// The same as a CommonJS program. `judge` is an ES module and comes later; the package must be there at once.

"use strict";

const { readFileSync } = require("node:fs");
const process = require("node:process");
const { VerificationError, Verifier, createReceiver, sign } = require("verify-wasm");
require("verify-wasm/explain");
const { createMemoryStore } = require("verify-wasm/stores/memory");

const exported = { VerificationError, Verifier, createMemoryStore, createReceiver, sign };
const { cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
import("../judge.mjs")
  .then(({ judge }) => judge(exported, cases))
  .then((result) => console.log(JSON.stringify(result)));
