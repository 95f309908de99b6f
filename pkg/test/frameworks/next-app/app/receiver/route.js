// A receiver in the app router.

import { toRouteHandler } from "verify-wasm/next";
import { receiver } from "../../effects.js";

export const POST = toRouteHandler(receiver);
