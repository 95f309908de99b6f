// One delivery of the differential test through the package, in every form in which a caller may have it.
//
// The package is handed in: the same function runs in Node, over the ES module and over the CommonJS one, and in a Worker.
// A body is tried as bytes and, when it is text, as a string; the headers as pairs, as Node has them, and as `Headers`
// where these can hold them. `check`, `verify` and `verifyEnvelope` must agree over all of it, or this throws.

const CONFIGURATION = "configuration";

/** Returns a function that answers a delivery (a line of `deliveries`) with `{ verdict, fields }`. */
export function judgeBy({ Verifier, VerificationError }) {
  return (delivery) => {
    const { secrets, tolerance, now } = delivery;
    let verifier;
    try {
      verifier = new Verifier(secrets, { toleranceSeconds: tolerance, now: () => now });
    } catch (error) {
      if (error instanceof RangeError) return { verdict: CONFIGURATION, fields: null };
      throw error;
    }
    const answers = [];
    for (const body of bodiesOf(delivery.body)) {
      for (const headers of headersOf(delivery.lines)) answers.push(judge(verifier, VerificationError, body, headers));
    }
    const [first] = answers;
    for (const other of answers) {
      if (JSON.stringify(other) !== JSON.stringify(first)) {
        throw new Error(`one delivery, two answers: ${JSON.stringify(first)} and ${JSON.stringify(other)}`);
      }
    }
    return first;
  };
}

function judge(verifier, VerificationError, body, headers) {
  const checked = verifier.check(body, headers);
  const codes = ["verify", "verifyEnvelope"].map((method) => {
    try {
      return { value: verifier[method](body, headers) };
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      return { code: error.code };
    }
  });
  const [event, envelope] = codes.map(({ value }) => value);
  if (codes.some(({ code }) => code !== checked.code)) throw new Error("check, verify and verifyEnvelope disagree");
  if (!checked.ok) return { verdict: checked.code, fields: null };
  const [whole, ...others] = [checked.event, event, envelope.event].map((value) => JSON.stringify(value));
  if (others.some((other) => other !== whole)) throw new Error("check, verify and verifyEnvelope read different events");
  const { event: _, ...fields } = envelope;
  return { verdict: "ok", fields };
}

/** The bytes, in one of the forms that bytes have, and the string whose UTF-8 bytes they are, if there is one. */
function bodiesOf(body) {
  if (body === null) return [null, undefined];
  if ("utf16" in body) {
    const units = fromBase64(body.utf16);
    const view = new DataView(units.buffer);
    let text = "";
    for (let at = 0; at < units.length; at += 2) text += String.fromCharCode(view.getUint16(at, true));
    return [text, new TextEncoder().encode(text)];
  }
  const bytes = fromBase64(body.bytes);
  const apart = new Uint8Array(bytes.length + 3);
  apart.set(bytes, 3);
  const forms = [bytes, bytes.buffer, apart.subarray(3)];
  try {
    forms.push(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // Not text: there is no string to try.
  }
  return forms;
}

function headersOf(lines) {
  const pairs = Object.entries(lines).flatMap(([name, values]) => values.map((value) => [name.toUpperCase(), value]));
  const record = {};
  for (const [name, values] of Object.entries(lines)) {
    if (values.length > 0) record[name] = values.length === 1 ? values[0] : values;
  }
  const forms = [pairs, record];
  if (pairs.every(([, value]) => isFieldValue(value))) forms.push(new Headers(pairs));
  return forms;
}

/** Whether `Headers` takes the value and hands it out unchanged: it removes blanks, and refuses what is no byte. */
function isFieldValue(value) {
  return /^[\x01-\x09\x0b\x0c\x0e-\xff]*$/.test(value) && value.trim() === value && !/^\s|\s$/.test(value);
}

function fromBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
