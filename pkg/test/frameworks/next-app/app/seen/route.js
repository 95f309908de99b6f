// Tells the test what the handlers saw.

import { seen } from "../../effects.js";

export const dynamic = "force-dynamic";

export function GET() {
  return Response.json(seen());
}
