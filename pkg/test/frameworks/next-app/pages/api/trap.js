// An API route without the `config` that keeps Next.js from parsing.

import { toApiHandler } from "verify-wasm/next";
import { receiver } from "../../effects.js";

export default toApiHandler(receiver);
