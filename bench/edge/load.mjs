// Deliveries with ids of their own, and connections that send them: each has one request in flight.

import { createHmac } from "node:crypto";
import { Agent, request } from "node:http";
import { SECRET, delivery } from "../verify/deliveries.mjs";

const CONNECTIONS = 4;

let made = 0;

/** `count` deliveries of a body, each of another event, signed now. */
export function deliveries(body, count) {
  const { text, timestamp, headers } = delivery(body);
  const id = headers["service-event-id"];
  return Array.from({ length: count }, () => {
    made += 1;
    const own = `${id.slice(0, -10)}${String(made).padStart(10, "0")}`;
    const bytes = Buffer.from(text.replace(id, own));
    const signature = createHmac("sha256", SECRET).update(`${timestamp}.`).update(bytes).digest("hex");
    return { body: bytes, headers: { ...headers, "service-event-id": own, "service-signature": `v1=${signature}` } };
  });
}

/** Sends them all to `url` and returns the milliseconds that each took. Every answer must be 200 with `code`. */
export async function send(url, toSend, code) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const times = [];
  let next = 0;
  const connection = async () => {
    for (let index = next++; index < toSend.length; index = next++) {
      const began = performance.now();
      const answer = await post(agent, url, toSend[index]);
      times.push(performance.now() - began);
      if (answer !== `200 {"code":"${code}"}`) throw new Error(`${url} answered ${answer} instead of ${code}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  agent.destroy();
  return times;
}

function post(agent, url, { body, headers }) {
  const { promise, resolve, reject } = pending();
  const outgoing = request(url, { agent, method: "POST", headers: { ...headers, host: url.host } }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk) => (text += chunk));
    response.on("end", () => resolve(`${response.statusCode} ${text}`));
    response.on("error", reject);
  });
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}

/** As `Promise.withResolvers`, which Node has from 22 on. */
function pending() {
  let resolve;
  let reject;
  const promise = new Promise((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}
