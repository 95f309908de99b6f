// A program that imports the package: prints what it came to. Its argument is the file with the vectors.

import { readFileSync } from "node:fs";
import process from "node:process";
import { VerificationError, Verifier, createReceiver, sign } from "verify-wasm";
import "verify-wasm/explain";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { judge } from "../judge.mjs";

const exported = { VerificationError, Verifier, createMemoryStore, createReceiver, sign };

const { cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
judge(exported, cases).then((result) => console.log(JSON.stringify(result))); // bundlers make CommonJS of this, too
