// A receiver in the pages router.

import { toApiHandler } from "verify-wasm/next";
import { receiver } from "../../effects.js";

export const config = { api: { bodyParser: false } };

export default toApiHandler(receiver);
