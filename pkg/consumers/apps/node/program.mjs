// A program that imports the package: prints what it came to. Its argument is the file with the vectors.

import { readFileSync } from "node:fs";
import process from "node:process";
import { CONTRACT_VERSION, VerificationError, Verifier, sign } from "verify-wasm";
import { judge } from "../judge.mjs";

const { cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
console.log(JSON.stringify(judge({ CONTRACT_VERSION, VerificationError, Verifier, sign }, cases)));
