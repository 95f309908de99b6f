// What every consumer does with the package, however it got hold of it: judges all vectors, then signs a delivery of
// its own and has it judged, genuine and with a byte missing, explained, and received twice. What comes back is one plain object, which the
// tests compare.
//
// Only what every runtime has is used here, so that the same file runs in Node, in a page and in a Worker. The package
// is handed in: how it is imported is what the consumers differ in. None of them imports anything that the entry itself
// makes, so a bundler that thought it could do without the entry would be found out.

const SECRET = "whsec_of_these_consumers";

/** Judges the cases of `tests/vectors/verification.json` with the package's exports. */
export async function judge(exports, cases) {
  const { Verifier, VerificationError, sign } = exports;
  const wrong = cases.filter((vector) => verdict(Verifier, vector) !== expected(vector)).map(({ name }) => name);

  const body = bytes(cases[0]);
  const headers = sign(SECRET, body);
  const verifier = new Verifier(SECRET);
  const cut = body.slice(0, -1);
  const refusal = refused(() => verifier.verify(cut, headers));
  const explanation = verifier.explain(cut, headers);
  return {
    cases: cases.length,
    wrong,
    event: verifier.verify(body, new Headers(headers)).id,
    envelope: verifier.verifyEnvelope(body, Object.entries(headers)).merchant,
    refusal: { code: refusal.code, status: refusal.status, known: refusal instanceof VerificationError },
    explained: { code: explanation.code, anyCause: explanation.causes.length > 0 },
    received: await receivedTwice(exports, body, headers),
  };
}

/** What the consumer must come to. */
export const judged = {
  cases: 129,
  wrong: [],
  event: "evt_1",
  envelope: { id: "mer_1", slug: "a" },
  refusal: { code: "invalid_signature", status: 401, known: true },
  explained: { code: "invalid_signature", anyCause: true },
  received: { statuses: [200, 200], events: ["evt_1"] },
};

async function receivedTwice({ createReceiver, createMemoryStore }, body, signed) {
  const events = [];
  const onEvent = (event) => events.push(event.id);
  const receiver = createReceiver({ secret: SECRET, store: createMemoryStore(), onEvent });
  const statuses = [];
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const headers = { ...signed, "Content-Type": "application/json" };
    const response = await receiver(new Request("https://receiver.example/", { method: "POST", headers, body }));
    statuses.push(response.status);
  }
  return { statuses, events };
}

function verdict(Verifier, vector) {
  const verifier = new Verifier(vector.secrets, { toleranceSeconds: vector.tolerance, now: () => vector.now * 1000 });
  const lines = [
    ["Service-Timestamp", vector.timestamp],
    ["Service-Signature", vector.signature],
    ["Service-Event-Id", vector.event_id],
  ];
  const result = verifier.check(bytes(vector), lines.filter(([, value]) => value !== null));
  return result.ok ? `ok ${JSON.stringify(result.event)}` : result.code;
}

function expected(vector) {
  if (vector.expect !== "ok") return vector.expect;
  return `ok ${JSON.stringify(JSON.parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes(vector))))}`;
}

function bytes({ body_base64: base64 }) {
  return base64 === null ? null : Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function refused(work) {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("a forged delivery was accepted");
}
