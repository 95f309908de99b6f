// Only verified, in the app router.

import { verifiedRouteHandler } from "verify-wasm/next";
import { options, take, verifier } from "../../effects.js";

export const POST = verifiedRouteHandler(verifier, (event) => take(event), options);
