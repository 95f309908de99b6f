// Makes signed deliveries and sends them over a real socket, also in ways that a well-behaved sender would not.

import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { sign } from "verify-wasm";

export const SECRET = "whsec_of_the_framework_tests";
/** What every server of these tests is willing to read, bytes. */
export const BODY_BYTES_MAX = 8192;

let count = 0;

/** An event that no other test has, as the text of a body. */
export function eventText(note = "") {
  count += 1;
  return JSON.stringify({
    id: `evt_${process.pid}_${count}`,
    type: "order.confirmed",
    api_version: "2026-09-01",
    created_at: "2026-09-01T12:00:00.000Z",
    merchant: { id: "mer_1", slug: "a" },
    data: { object: { note } },
  });
}

/** An event whose text has exactly so many bytes. */
export function eventOfBytes(bytes) {
  const length = Buffer.byteLength(eventText());
  // The number in the id may have become longer.
  const text = eventText("x".repeat(bytes - length));
  return text.length > bytes ? text.replace("xx", "x") : text;
}

/** The headers of a signed JSON request. The id is that of the event; a body that is no JSON needs to be told. */
export function signed(body, more = {}, eventId = idOf(body)) {
  return { "Content-Type": "application/json", ...sign(SECRET, body, { eventId }), ...more };
}

/**
 * Sends one request and reads its answer to the end. A body that is an array goes in chunks, one for each element. The
 * connection is a new one unless an agent has one.
 */
export async function send({ port, path }, { method = "POST", headers = {}, body = "", agent = false }) {
  const outgoing = request({ host: "127.0.0.1", port, path, method, headers, agent });
  outgoing.on("error", () => {}); // a server may refuse to read on; what counts is the answer
  const answer = once(outgoing, "response");
  if (Array.isArray(body)) for (const part of body) await new Promise((sent) => outgoing.write(part, sent));
  outgoing.end(Array.isArray(body) ? undefined : body);
  const [response] = await answer;
  const text = await textOf(response);
  return { status: response.statusCode, headers: response.headers, text, code: codeOf(text) };
}

/** Delivers a signed body. */
export function deliver(server, body, more) {
  return send(server, { headers: signed(body, more), body });
}

/** Begins an upload and breaks it off. */
export async function breakOff({ port, path }, body) {
  const headers = { ...signed(body), "Content-Length": String(body.length) };
  const outgoing = request({ host: "127.0.0.1", port, path, method: "POST", headers });
  outgoing.on("error", () => {}); // what is provoked
  outgoing.write(body.slice(0, 10), () => outgoing.destroy());
  await new Promise((closed) => outgoing.on("close", closed));
}

/** Uploads too much and goes on without end, whatever is answered, until the server ends it. Returns the answer. */
export async function uploadWithoutEnd({ port, path }) {
  const socket = connect(port, "127.0.0.1");
  const head = Object.entries(signed(eventText())).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${head.join("")}Transfer-Encoding: chunked\r\n\r\n`);
  const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  let answer = "";
  // Goes on when the answer is there: one that is still on its way when the server ends the connection may be lost.
  socket.on("data", (bytes) => {
    answer += bytes;
    more();
  });
  socket.on("error", () => {}); // the end of it
  socket.on("drain", () => answer !== "" && more());
  socket.write(chunk);
  await new Promise((closed) => socket.on("close", closed));
  // The body may come in chunks, with their lengths around it.
  const [, status, code] = answer.match(/^HTTP\/1\.1 ([0-9]+)[^]*?\r\n\r\n[^]*?\{"code":"([a-z_]+)"\}/);
  return { status: Number(status), code };
}

function idOf(body) {
  return JSON.parse(body.replace("\ufeff", "")).id;
}

async function textOf(response) {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}

function codeOf(text) {
  try {
    return JSON.parse(text).code;
  } catch {
    return undefined;
  }
}
