// Deliveries and the verdict that each must get, in a form that every language reads without a parser.
//
// A line has six fields with a tab between them: body, Service-Timestamp, Service-Signature, Service-Event-Id, now, and
// the secrets with commas between them. All but `now` (Unix seconds) are base64; `-` is absent. The answer is a line
// as well: `ok` and the event as the sample has read it, as JSON in base64; or a code; or `configuration`.

import { createHmac } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** The tolerance that the samples have. */
const TOLERANCE = 300;
const SECRET = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
const NOW = 1788264000;
const MAX_BODY = 16 * 1024 * 1024;

/** All cases of `tests/vectors/verification.json`. */
export function vectors() {
  const file = new URL("../../vectors/verification.json", import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")).cases.map((vector) => {
    if (vector.tolerance !== TOLERANCE) throw new Error(`${vector.name}: the samples' tolerance is ${TOLERANCE} s`);
    const body = vector.body_base64 === null ? null : Buffer.from(vector.body_base64, "base64");
    return newCase({ ...vector, body, eventId: vector.event_id });
  });
}

/** What the vectors leave out, because the core needs no reminder of it, and a parser of another language does. */
export function traps() {
  const event = (members) => {
    const all = {
      id: '"evt_1"',
      type: '"webhook.test"',
      api_version: '"2026-09-01"',
      created_at: '"2026-09-01T12:00:00.000Z"',
      merchant: '{"id":"mer_1","slug":"a"}',
      data: '{"object":{}}',
      ...members,
    };
    return `{${Object.entries(all).map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
  };
  const object = (text) => event({ data: `{"object":${text}}` });
  const slug = (text) => event({ merchant: `{"id":"mer_1","slug":${text}}` });
  const long = "x".repeat(1 << 20);
  const signed = [
    ["ok", "a name in other letters is another name", event({ ID: '"evt_2"', Merchant: '{"id":"x"}' })],
    ["ok", "names repeated deeper", object('{"a":1,"a":2,"b":{"id":1,"id":2},"merchant":{"a":1,"a":2}}')],
    ["invalid_payload", "a name repeated with an escape", event({ data: '{"object":{},"obj\\u0065ct":{}}' })],
    ["invalid_payload", "a name repeated behind a list", event({ list: "[[1]]" }).replace(/\}$/, ',"x":1,"x":2}')],
    ["ok", "names repeated in a list", event({ list: '[{"a":1,"a":2},{"merchant":{"a":1,"a":2},"data":1}]' })],
    ["invalid_payload", "an empty name repeated", event({ merchant: '{"id":"mer_1","slug":"a","":1,"":2}' })],
    ["ok", "names of prototypes", event({ data: '{"object":{"__proto__":{"a":1},"constructor":1},"__proto__":2}' })],
    ["invalid_payload", "names of prototypes repeated", event({ data: '{"object":{},"__proto__":1,"__proto__":1}' })],
    ["ok", "a name that begins with NUL", object('{"\\u0000a":1,"\\u0000":2,"":3}')],
    ["ok", "a name that is a number", event({ data: '{"object":{"0":1,"-1":2},"0":1,"00":2}' })],
    ["ok", "a string of 1 MiB", object(`{"a":"${long}"}`)],
    ["ok", "many escapes", object(`{"a":"${"\\n\\u00e9".repeat(1 << 14)}"}`)],
    ["ok", "a long list", object(`{"a":[${"[],{},1,".repeat(1 << 14)}0]}`)],
    ["ok", "braces in strings", object(`{"a":"${"[{".repeat(200)}","b":"\\"${"[".repeat(200)}"}`)],
    ["ok", "an escaped backslash before u", object('{"a":"\\\\ud800","b":"\\\\\\\\ud800"}')],
    ["invalid_json", "two escaped backslashes and half a pair", object('{"a":"\\\\\\\\\\ud800"}')],
    ["invalid_json", "two first halves", object('{"a":"\\ud83d\\ud83d\\ude00"}')],
    ["invalid_json", "half a pair in a name", object('{"\\udc00":1}')],
    ["invalid_json", "half a pair that a later member hides", object('{"a":"\\ud800","a":1}')],
    ["ok", "a whole pair in both cases", object('{"a":"\\ud83d\\uDE00\\uD83D\\ude00"}')],
    ["invalid_json", "an infinite number that a later member hides", object('{"a":-1e999,"a":1}')],
    ["invalid_json", "an infinite integer", object(`{"a":1${"0".repeat(309)}}`)],
    ["ok", "the longest integers", object(`{"a":1${"0".repeat(308)},"b":-1${"0".repeat(308)},"c":1e-999}`)],
    ...["TRUE", "Null", "+1", ".5", "1.", "-", "0x1", "Infinity", "-Infinity", "1_0", "/**/1", "1//\n", "1,"].map(
      (text) => ["invalid_json", `not JSON: ${text}`, object(`{"a":${text}}`)],
    ),
    ...['"\\x41"', '"\\a"', '"\\u00g0"', '"\\u+041"', '"\t"', '"\\\n"', "'a'", '"a', "[1 2]", "[,]", "{1:2}", "{,}"].map(
      (text) => ["invalid_json", `not JSON: ${text}`, object(`{"a":${text}}`)],
    ),
    ["invalid_json", "a form feed between members", event({}).replace(",", ",\f")],
    ["invalid_json", "a BOM", `\ufeff${event({})}`],
    ["invalid_json", "U+FFFF behind it", `${event({})}\uffff`],
    ["invalid_json", "a digit that is not ASCII", object('{"a":\u0661}')],
    ["ok", "all blanks", ` \t\r\n${event({}).replaceAll(",", " ,\t\r\n")} \t\r\n`],
    ...["0", "-0", "-0.0", "1e3", "9007199254740991", "0.99999999999999999999", "-1e-400"].map(
      (text) => ["ok", `sequence ${text}`, event({ sequence: text })],
    ),
    ...["-1", "9007199254740992", "9007199254740993", "1e16", "0.5", "[]", "false", '"1"', `1${"0".repeat(300)}`].map(
      (text) => ["invalid_payload", `sequence ${text}`, event({ sequence: text })],
    ),
    ...["[]", '""', "0", "false"].map((text) => ["invalid_payload", `links ${text}`, event({ links: text })]),
    ...["[]", '""', "0", "null"].map((text) => ["invalid_merchant", `merchant ${text}`, event({ merchant: text })]),
    ["invalid_data", "object null", object("null")],
    ["invalid_payload", "recipient text", event({ recipient: '"a"' })],
    ["invalid_event_id", "an id of 129 characters", event({ id: `"evt_${"a".repeat(125)}"` })],
    ["ok", "a type of 128 characters", event({ type: `"a.${"b".repeat(126)}"` })],
    ["invalid_event_type", "a type with a capital letter", event({ type: '"wEbhook.test"' })],
    ["ok", "a merchant's id of 128 characters", event({ merchant: `{"id":"mer_${"a".repeat(124)}","slug":"a"}` })],
    ["invalid_merchant", "a merchant's id of 129", event({ merchant: `{"id":"mer_${"a".repeat(125)}","slug":"a"}` })],
    ["invalid_event_id", "a line feed behind the id", event({ id: '"evt_1\\n"' })],
    ["invalid_event_type", "a line feed behind the type", event({ type: '"webhook.test\\n"' })],
    ...["2026-09-01\\n", "2026-9-01", "20260901", "2026-W01-1", "1900-02-29", "0100-02-29", "0000-01-01", "2026-00-01",
      "2026-01-00", "2026-04-31"].map(
      (text) => ["invalid_api_version", `api_version ${text}`, event({ api_version: `"${text}"` })],
    ),
    ...["2024-02-29", "2000-02-29", "0001-01-01", "0004-02-29", "1582-10-10", "9999-12-31"].map(
      (text) => ["ok", `api_version ${text}`, event({ api_version: `"${text}"` })],
    ),
    ...["2026-09-01T12:00:00,000Z", "2026-09-01T12:00:60.000Z", "2026-09-01T12:60:00.000Z", "2026-09-01T12:00:00.000z",
      "2026-09-01T12:00:00.000Z\\n", "0000-09-01T12:00:00.000Z", "2026-09-01T1:000:00.000Z"].map(
      (text) => ["invalid_created_at", `created_at ${text}`, event({ created_at: `"${text}"` })],
    ),
    ["invalid_merchant", "a slug with a control character", slug('"a\\u0085"')],
    ["invalid_merchant", "a slug with a line feed behind it", slug('"a\\n"')],
    ["ok", "a slug of 128 characters beyond the BMP", slug(`"${"\u{1f6d2}".repeat(128)}"`)],
    ["invalid_merchant", "a slug of 129 characters beyond the BMP", slug(`"${"\u{1f6d2}".repeat(129)}"`)],
    ["ok", "a slug with line separators", slug('"\\u2028a\\u2029"')],
    ["ok", "a body at the bound", event({}).padEnd(MAX_BODY)],
    ["invalid_payload", "a body above the bound", event({}).padEnd(MAX_BODY + 1)],
  ].map(([expect, name, text]) => newCase({ ...delivery(Buffer.from(text)), expect, name }));
  const body = Buffer.from(event({}));
  const valid = delivery(body);
  const headers = [
    ["configuration", "nine secrets", { secrets: Array(9).fill(SECRET) }],
    ["configuration", "nine secrets and no body", { secrets: Array(9).fill(SECRET), body: null }],
    ["ok", "eight secrets", { secrets: [...Array(7).fill("whsec_1"), SECRET] }],
    ["invalid_secret", "a line feed behind the secret", { secrets: [`${SECRET}\n`] }],
    ["invalid_secret", "513 characters", { secrets: [`whsec_${"a".repeat(507)}`] }],
    ["invalid_secret", "an empty secret beside a good one", { secrets: [SECRET, ""] }],
    ["ok", "512 characters", delivery(body, `whsec_${"~".repeat(506)}`)],
    ["invalid_timestamp", "a line feed behind the timestamp", { timestamp: `${NOW}\n` }],
    ["invalid_signature", "a no-break space before the signature", { signature: `\u00a0${valid.signature}` }],
    ["invalid_signature", "a line feed behind the signature", { signature: `${valid.signature}\n` }],
    ["ok", "16,384 bytes", { signature: `${valid.signature},`.padEnd(16384, ",x") }],
    ["invalid_signature", "16,385 bytes", { signature: `${valid.signature},`.padEnd(16385, "x") }],
    ...[
      ["ok", 300],
      ["stale_timestamp", 301],
    ].flatMap(([expect, seconds]) => [
      [expect, `${seconds} s later`, { now: NOW + seconds }],
      [expect, `${seconds} s earlier`, { now: NOW - seconds }],
    ]),
    ["event_id_mismatch", "no event id", { eventId: "" }],
    ["event_id_mismatch", "two event ids", { eventId: "evt_1, evt_1" }],
  ].map(([expect, name, change]) => newCase({ ...valid, ...change, expect, name }));
  return [...signed, ...headers];
}

/** Random deliveries with their native verdicts, as the program `deliveries` writes them, with the samples' tolerance. */
export async function random(file) {
  const cases = [];
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { body, lines, secrets, tolerance, now, expect } = JSON.parse(line);
    const name = `delivery ${number} of ${file}`;
    number += 1;
    if (tolerance !== TOLERANCE) continue;
    const joined = (header) => (lines[header].length === 0 ? null : lines[header].join(", "));
    cases.push(
      newCase({
        name,
        expect,
        body: bytesOf(body),
        timestamp: joined("service-timestamp"),
        signature: joined("service-signature"),
        eventId: joined("service-event-id"),
        // Beyond these a double is not exact, and every timestamp is stale.
        now: Math.min(Math.max(Math.floor(now / 1000), -(2 ** 52)), 2 ** 52),
        secrets,
      }),
    );
  }
  return cases;
}

function bytesOf(body) {
  if (body === null) return null;
  return "bytes" in body
    ? Buffer.from(body.bytes, "base64")
    : Buffer.from(Buffer.from(body.utf16, "base64").toString("utf16le").toWellFormed());
}

function delivery(body, secret = SECRET) {
  const digest = createHmac("sha256", secret).update(`${NOW}.`).update(body).digest("hex");
  return { body, timestamp: String(NOW), signature: `v1=${digest}`, eventId: "evt_1", now: NOW, secrets: [secret] };
}

function newCase({ name, expect, body, timestamp, signature, eventId, now, secrets }) {
  const encode = (value) => (value === null ? "-" : Buffer.from(value).toString("base64"));
  const trusted = secrets.length === 0 ? "-" : secrets.map(encode).join(",");
  const line = [encode(body), encode(timestamp), encode(signature), encode(eventId), now, trusted].join("\t");
  return { name, line, expect: expect === "ok" ? `ok ${canonical(JSON.parse(body.toString("utf8")))}` : expect };
}

/** What a sample has answered, in the form of `expect`. */
export function answered(line) {
  const [verdict, event] = line.split("\t");
  return event === undefined ? verdict : `${verdict} ${canonical(JSON.parse(Buffer.from(event, "base64").toString()))}`;
}

/** The same text for the same value: names in order, a list as an object of its places (PHP has one type for both). */
function canonical(value) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.toSorted().join(",")}}`;
}
