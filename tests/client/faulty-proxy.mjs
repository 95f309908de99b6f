// Stands between a client and the authority and does what networks do, by a seeded dice: it loses requests and answers,
// breaks answers off, sends requests twice, is late, and answers by itself that it cannot.

import { createServer, request as send } from "node:http";

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function dice(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How late a request may come to the service, milliseconds. */
const LATE_MS = 100;

const FAULTS = [
  ["request lost", 0.12],
  ["answer lost", 0.12],
  ["answer broken off", 0.08],
  ["sent twice", 0.1],
  ["late", 0.1],
  ["502 with a page", 0.05],
  ["503", 0.05],
];

/** Starts it in front of `origin`. `faults` counts what it did. */
export async function faultyProxy(origin, seed) {
  const roll = dice(seed);
  const faults = Object.fromEntries(FAULTS.map(([name]) => [name, 0]));
  const server = createServer((incoming, answer) => {
    void serve(incoming, answer).catch(() => answer.destroy());
  });
  const pick = () => {
    let left = roll();
    const found = FAULTS.find(([, share]) => (left -= share) < 0);
    if (found !== undefined) faults[found[0]] += 1;
    return found?.[0];
  };

  async function serve(incoming, answer) {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const fault = pick();
    if (fault === "request lost") return answer.destroy();
    if (fault === "502 with a page") return answer.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
    if (fault === "503") return answer.writeHead(503, { "retry-after": "0" }).end();
    if (fault === "late") await new Promise((arrives) => setTimeout(arrives, roll() * LATE_MS));
    let got = await forwarded(incoming, chunks);
    if (fault === "sent twice") got = await forwarded(incoming, chunks);
    if (fault === "answer lost") return answer.destroy();
    answer.writeHead(got.status, got.headers);
    if (fault !== "answer broken off") return answer.end(got.body);
    answer.write(got.body.subarray(0, got.body.length >> 1), () => answer.destroy());
  }

  function forwarded({ method, url, headers }, chunks) {
    return new Promise((resolve, reject) => {
      const outgoing = send(origin + url, { method, headers }, (got) => {
        const body = [];
        got.on("data", (chunk) => body.push(chunk));
        got.on("end", () => resolve({ status: got.statusCode, headers: got.headers, body: Buffer.concat(body) }));
      });
      outgoing.on("error", reject);
      outgoing.end(Buffer.concat(chunks));
    });
  }

  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    faults,
    end: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
