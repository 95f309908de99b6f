// A page that imports the package, and hands the test what it is to call.

import { CONTRACT_VERSION, VerificationError, Verifier, sign } from "verify-wasm";
import { judge } from "../judge.mjs";

globalThis.judgeInPage = (cases) => judge({ CONTRACT_VERSION, VerificationError, Verifier, sign }, cases);
