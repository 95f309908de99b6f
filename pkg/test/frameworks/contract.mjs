// What every adapter has to do in its framework, over a real socket (contract 11.1 and 11.3).
//
// A framework's test file says how to start a server for one of the two forms, `receiver` or `verified`, and this file
// plays the sender. A server tells what its handler saw; that is the effect, and it must happen once or not at all.

import assert from "node:assert/strict";
import { Agent } from "node:http";
import test from "node:test";
import { BODY_BYTES_MAX, breakOff, deliver, eventOfBytes, eventText, send, signed, uploadWithoutEnd } from "./deliveries.mjs";

/**
 * Runs all cases.
 *
 * @param name Of the framework, and its version where there are several.
 * @param start Starts a server: `(form) => { port, path, seen(): events, close() }`.
 * @param own What the framework does without asking the handler: `methodNotAllowed` when it answers other methods
 *   itself, `uploads` the forms for which it deals with uploads that are too long.
 */
export function fulfilsTheContract(name, start, own = {}) {
  for (const form of ["receiver", "verified"]) {
    test(`${name}, ${form}`, async (t) => {
      const server = await start(form);
      t.after(() => server.close());
      const given = { t, server, form, own };
      await validDeliveries(given);
      await refusals(given);
      await exactBytes(given);
      await bounds(given);
      await brokenUploads(given);
    });
  }
}

/** How often the handler saw an event. */
async function sightings(server, body) {
  const { id } = JSON.parse(body);
  return (await server.seen()).filter((event) => event.id === id).length;
}

async function validDeliveries({ t, server, form }) {
  await t.test("a valid delivery is accepted, and its event handed over once", async () => {
    const body = eventText("é, 🛒 and \u0000");
    const answer = await deliver(server, body);
    assert.deepEqual([answer.status, answer.text], [200, '{"code":"ok"}']);
    assert.match(answer.headers["content-type"], /^application\/json/);
    const events = (await server.seen()).filter(({ id }) => id === JSON.parse(body).id);
    assert.deepEqual(events, [JSON.parse(body)]);
  });
  if (form !== "receiver") return;
  await t.test("a duplicate is accepted without a second effect", async () => {
    const body = eventText();
    assert.equal((await deliver(server, body)).code, "ok");
    const again = await deliver(server, body);
    assert.deepEqual([again.status, again.code], [200, "duplicate"]);
    assert.equal(await sightings(server, body), 1);
  });
  await t.test("of simultaneous deliveries one has the effect", async () => {
    const body = eventText();
    const answers = await Promise.all(Array.from({ length: 8 }, () => deliver(server, body)));
    assert.deepEqual(answers.map(({ code }) => code).sort(), [...Array(7).fill("duplicate"), "ok"]);
    assert.equal(await sightings(server, body), 1);
  });
}

async function refusals({ t, server, own }) {
  const body = eventText();
  const json = signed(body);
  const [timestamp, signature] = [json["Service-Timestamp"], json["Service-Signature"]];
  const cases = [
    ["forged", { headers: { ...json, "Service-Signature": signature.replace(/.$/, (last) => (last === "0" ? "1" : "0")) } }, 401, "invalid_signature"],
    ["altered", { headers: json, body: body.replace("mer_1", "mer_2") }, 401, "invalid_signature"],
    ["two timestamps", { headers: { ...json, "Service-Timestamp": [timestamp, timestamp] } }, 400, "invalid_timestamp"],
    ["stale", { headers: { ...json, "Service-Timestamp": "1700000000" } }, 401, "stale_timestamp"],
    ["another id", { headers: { ...json, "Service-Event-Id": "evt_other" } }, 400, "event_id_mismatch"],
    ["no signature", { headers: { "Content-Type": "application/json", "Service-Timestamp": timestamp } }, 401, "missing_signature"],
    ["no body", { headers: { ...json, "Content-Length": "0" }, body: "" }, 400, "missing_body"],
    ["text", { headers: { ...json, "Content-Type": "text/plain" } }, 415, "unsupported_media_type"],
    ["no media type", { headers: { ...json, "Content-Type": "" } }, 415, "unsupported_media_type"],
    ["compressed", { headers: { ...json, "Content-Encoding": "gzip" } }, 415, "unsupported_media_type"],
  ];
  for (const [what, request, status, code] of cases) {
    await t.test(`${what}: ${code}`, async () => {
      const answer = await send(server, { body, ...request });
      assert.deepEqual([answer.status, answer.code], [status, code]);
      assert.equal(await sightings(server, body), 0);
    });
  }
  await t.test("another method", async () => {
    const answer = await send(server, { method: "PUT", headers: json, body });
    assert.equal(answer.status, 405);
    if (own.methodNotAllowed) return;
    assert.deepEqual([answer.code, answer.headers.allow], ["method_not_allowed", "POST"]);
  });
}

async function exactBytes({ t, server }) {
  const spellings = {
    "a trailing newline": (text) => `${text}\n`,
    "line ends of two characters": (text) => `${JSON.stringify(JSON.parse(text), null, 2).replaceAll("\n", "\r\n")}\r\n`,
    "blanks between the members": (text) => JSON.stringify(JSON.parse(text), null, 3),
    "an escape that no serialiser writes": (text) => text.replace("order.confirmed", "order.\\u0063onfirmed"),
    "letters of several bytes": (text) => text.replace('"a"', '"café 🛒"'),
  };
  for (const [what, spell] of Object.entries(spellings)) {
    await t.test(`${what}: verified as sent`, async () => {
      const body = spell(eventText());
      const answer = await deliver(server, body);
      assert.deepEqual([answer.status, answer.code], [200, "ok"]);
    });
  }
  await t.test("a byte order mark is not hidden", async () => {
    const answer = await deliver(server, `\ufeff${eventText()}`);
    assert.deepEqual([answer.status, answer.code], [400, "invalid_json"]);
  });
  await t.test("bytes that are not UTF-8 are not replaced", async () => {
    const text = eventText("?");
    const body = Buffer.from(text).map((byte, at) => (at === text.indexOf('"?"') + 1 ? 0xff : byte));
    const answer = await send(server, { headers: signed(body, {}, JSON.parse(text).id), body });
    assert.deepEqual([answer.status, answer.code], [400, "invalid_json"]);
  });
  await t.test("a media type with parameters, in capitals", async () => {
    const answer = await deliver(server, eventText(), { "Content-Type": "Application/JSON; charset=UTF-8" });
    assert.deepEqual([answer.status, answer.code], [200, "ok"]);
  });
}

async function bounds({ t, server }) {
  await t.test("a body of exactly the bound", async () => {
    const answer = await deliver(server, eventOfBytes(BODY_BYTES_MAX));
    assert.deepEqual([answer.status, answer.code], [200, "ok"]);
  });
  await t.test("one byte more, declared", async () => {
    const body = eventOfBytes(BODY_BYTES_MAX + 1);
    const answer = await deliver(server, body);
    assert.deepEqual([answer.status, answer.code], [413, "payload_too_large"]);
    assert.equal(await sightings(server, body), 0);
  });
  await t.test("one byte more, in chunks", async () => {
    const body = eventOfBytes(BODY_BYTES_MAX + 1);
    const answer = await send(server, { headers: signed(body), body: [body.slice(0, 5000), body.slice(5000)] });
    assert.deepEqual([answer.status, answer.code], [413, "payload_too_large"]);
    assert.equal(await sightings(server, body), 0);
  });
  await t.test("in many chunks within the bound", async () => {
    const body = eventText("in pieces");
    const answer = await send(server, { headers: signed(body), body: body.match(/[^]{1,7}/g) });
    assert.deepEqual([answer.status, answer.code], [200, "ok"]);
  });
}

async function brokenUploads({ t, server, form, own }) {
  await t.test("an upload that breaks off harms nobody else", async () => {
    const body = eventText();
    await breakOff(server, body);
    assert.equal((await deliver(server, eventText())).code, "ok");
    assert.equal(await sightings(server, body), 0);
  });
  if (own.uploads?.includes(form)) return;
  await t.test("after refusals the connection goes on, or is ended in order", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const long = eventOfBytes(3 * BODY_BYTES_MAX);
    const answers = [];
    for (const request of [
      { headers: signed(long, { "Content-Type": "text/plain" }), body: long },
      { headers: signed(long), body: long },
      { headers: signed(long), body: [long.slice(0, 9000), long.slice(9000)] },
      { headers: signed(eventText(), { "Content-Encoding": "gzip" }), body: eventText() },
    ]) {
      answers.push((await send(server, { ...request, agent })).status);
      const body = eventText();
      answers.push((await send(server, { headers: signed(body), body, agent })).status);
    }
    agent.destroy();
    assert.deepEqual(answers, [415, 200, 413, 200, 413, 200, 415, 200]);
  });
  await t.test("an upload without end is answered, then ended", async () => {
    const answer = await uploadWithoutEnd(server);
    assert.deepEqual([answer.status, answer.code], [413, "payload_too_large"]);
    assert.equal((await deliver(server, eventText())).code, "ok");
  });
}
