// A page that imports the package, and hands the test what it is to call.

import { VerificationError, Verifier, createReceiver, sign } from "verify-wasm";
import "verify-wasm/explain";
import { createMemoryStore } from "verify-wasm/stores/memory";
import { judge } from "../judge.mjs";

const exported = { VerificationError, Verifier, createMemoryStore, createReceiver, sign };

globalThis.judgeInPage = (cases) => judge(exported, cases);
