// A route that reads the body before it hands the request over.

import { toRouteHandler } from "verify-wasm/next";
import { receiver } from "../../effects.js";

const receive = toRouteHandler(receiver);

export async function POST(request) {
  console.log((await request.json()).type);
  return receive(request);
}
