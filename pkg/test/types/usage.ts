// Compiled, never run: what a TypeScript receiver may write, and what the compiler must refuse.

import type { IncomingMessage } from "node:http";
import {
  type CauseCode,
  CONTRACT_VERSION,
  type CheckResult,
  type Envelope,
  type Explanation,
  type SignatureProfile,
  VerificationError,
  type VerificationCode,
  Verifier,
  type WebhookEvent,
  sign,
} from "verify-wasm";

const verifier = new Verifier("whsec_x", { toleranceSeconds: 60, now: () => 0 });
const rotating: Verifier = new Verifier(["whsec_new", "whsec_old"] as const);
const profile: SignatureProfile = "standard-webhooks";
export const standard: Verifier = new Verifier("whsec_AA==", { profile });
// @ts-expect-error there is no such profile
export const unknown: Verifier = new Verifier("whsec_AA==", { profile: "standardwebhooks" });

export function receive(request: IncomingMessage, body: Buffer): string {
  const event: WebhookEvent = verifier.verify(body, request.headers);
  const record: string = event.type === "order.confirmed" ? event.data.object.order_number : event.type;
  const slug: string = event.merchant.slug;
  const sequence: number | null | undefined = event.sequence;
  return `${event.id} ${record} ${slug} ${String(sequence)}`;
}

export async function receiveFetch(request: Request): Promise<VerificationCode | "ok"> {
  const result: CheckResult = rotating.check(await request.arrayBuffer(), request.headers);
  return result.ok ? "ok" : result.code;
}

export function receiveEnvelope(body: string | null): [string, number | null, WebhookEvent] {
  const envelope: Envelope = verifier.verifyEnvelope(body, [["service-timestamp", "1788264000"]]);
  return [envelope.merchant.id, envelope.sequence, envelope.event];
}

export function status(error: unknown): number {
  return error instanceof VerificationError && error.code !== "invalid_secret" ? error.status : 500;
}

export function explained(body: Buffer, headers: Headers): string[] {
  const explanation: Explanation = rotating.explain(body, headers, { otherSecrets: ["whsec_older"] });
  const first: CauseCode | undefined = explanation.causes[0]?.cause;
  if (first === "body_newline") return [];
  return explanation.causes.map(({ cause, evidence, fix }) => `${explanation.code} ${cause}: ${evidence} ${fix}`);
}

// One entry for each code: neither more nor fewer compile.
export const meaning: Record<VerificationCode, string> = {
  missing_body: "",
  invalid_secret: "",
  invalid_timestamp: "",
  stale_timestamp: "",
  missing_signature: "",
  invalid_signature: "",
  invalid_json: "",
  invalid_payload: "",
  invalid_event_id: "",
  invalid_event_type: "",
  invalid_api_version: "",
  invalid_created_at: "",
  invalid_merchant: "",
  invalid_data: "",
  event_id_mismatch: "",
};

export const version: string = CONTRACT_VERSION;
export const timestamp: string = sign("whsec_x", "{}", { eventId: "evt_1" })["Service-Timestamp"];

// @ts-expect-error secrets for comparison are a list
verifier.explain("{}", {}, { otherSecrets: "whsec_a" });
// @ts-expect-error a secret is a string
new Verifier(5);
// @ts-expect-error the option is called toleranceSeconds
new Verifier("whsec_x", { tolerance: 60 });
// @ts-expect-error a parsed body cannot be verified
verifier.verify({ id: "evt_1" }, {});
// @ts-expect-error a header's value is text
verifier.verify("", { "service-timestamp": 1788264000 });
// @ts-expect-error there is no such code
const unknownCode: VerificationCode = "invalid_whatever";
void unknownCode;
