// Runs before some routes, as it does in applications with sessions. Next.js then hands on a copy of the body.

import { NextResponse } from "next/server";

export const config = { matcher: ["/receiver", "/api/receiver"] };

export function proxy() {
  return NextResponse.next();
}
