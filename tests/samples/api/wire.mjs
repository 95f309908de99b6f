// A piece of the way between a sample and the authority, which passes every byte on and keeps a copy: so it is seen what
// a program asked for and with which status it was answered, and the program still speaks with the authority itself.

import { once } from "node:events";
import { connect, createServer } from "node:net";

/** One for each run of a sample. `end` closes it and tells of the requests that went through, in order. */
export async function wire(origin) {
  const { hostname, port } = new URL(origin);
  const connections = [];
  const server = createServer((program) => {
    const service = connect(Number(port), hostname);
    const seen = { requests: "", answers: "", sockets: [program, service] };
    connections.push(seen);
    program.on("data", (chunk) => (seen.requests += chunk.toString("latin1"))).pipe(service);
    service.on("data", (chunk) => (seen.answers += chunk.toString("latin1"))).pipe(program);
    // One that goes away in the middle is seen by what is missing.
    for (const socket of seen.sockets) socket.on("error", () => seen.sockets.forEach((each) => each.destroy()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    end() {
      server.close();
      for (const { sockets } of connections) sockets.forEach((socket) => socket.destroy());
      return connections.flatMap(({ requests, answers }) => {
        const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
        return requestsIn(requests).map((request, at) => ({ ...request, status: statuses[at] }));
      });
    },
  };
}

/** The requests of a connection: a body is what stands before the next head, and no body has a line like that of a head. */
function requestsIn(bytes) {
  const starts = [...bytes.matchAll(/(GET|POST|PUT|PATCH|DELETE) (\S+) HTTP\/1\.1\r\n/g)];
  return starts.map((start, at) => {
    const [head, ...rest] = bytes.slice(start.index, starts[at + 1]?.index).split("\r\n\r\n");
    const headers = head.split("\r\n").slice(1).map((line) => line.split(/: */, 2));
    const named = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
    const body = Buffer.from(rest.join("\r\n\r\n"), "latin1").toString();
    return { method: start[1], path: start[2], headers: named, body };
  });
}
