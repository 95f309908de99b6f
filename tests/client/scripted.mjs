// A server that says what a test wants, in the forms of the service.

import { createServer } from "node:http";

/** A key that no service knows. */
export const KEY = `svc_test_${"a".repeat(49)}`;

/** A server that answers as `answers` say, one after the other, the last for ever; `seen` are the requests. */
export async function scripted(t, answers) {
  const seen = [];
  const server = createServer((request, response) => {
    seen.push({ method: request.method, url: request.url, headers: request.headers });
    answers[Math.min(seen.length, answers.length) - 1](response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  return { seen, baseUrl: `http://127.0.0.1:${server.address().port}` };
}

/** A refusal with this code. */
export const problem = (status, code, headers = {}) => (response) =>
  response.writeHead(status, { "content-type": "application/problem+json", ...headers }).end(
    JSON.stringify({ type: `urn:service:error:${code}`, title: code, status, code, detail: "No.", request_id: "req_1" }),
  );

/** A record, or a page. */
export const answer = (record) => (response) =>
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(record));

/** An empty page. */
export const good = answer({ data: [] });
