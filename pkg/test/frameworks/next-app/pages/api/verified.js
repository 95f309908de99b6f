// Only verified, in the pages router.

import { verifiedApiHandler } from "verify-wasm/next";
import { options, take, verifier } from "../../effects.js";

export const config = { api: { bodyParser: false } };

export default verifiedApiHandler(verifier, (event) => take(event), options);
