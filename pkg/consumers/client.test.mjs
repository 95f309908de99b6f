// The client in every runtime that a server may be written for, against a service that loses the first answer to a write.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";
import * as esbuild from "esbuild";
import { Miniflare } from "miniflare";
import { apps, elsewhere, run, runtime } from "./running.mjs";

/** Answers as the authority would; `keys` are the idempotency keys of the writes that it saw. */
async function service(t) {
  const keys = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const answer = (status, type, body) => response.writeHead(status, { "content-type": type }).end(JSON.stringify(body));
    const good = (body) => answer(200, "application/json", body);
    assert.match(headers.authorization, /^Bearer svc_test_a{49}$/);
    request.resume().on("end", () => {
      const route = `${method} ${url.replace("/v1/merchant", "")}`;
      switch (route) {
        case "GET /orders?status=confirmed,completed":
          return good({ data: [{ order_number: "ORD-1" }], next_cursor: "a+/=" });
        case "GET /orders?status=confirmed,completed&cursor=a%2B%2F%3D":
          return good({ data: [{ order_number: "ORD-2" }] });
        case "POST /orders/ORD-1/refunds":
          assert.deepEqual([headers["if-match"], headers["content-type"]], ['"7"', "application/json"]);
          return keys.push(headers["idempotency-key"]) === 1 ? response.destroy() : good({ id: "rfd_1" });
        default:
          return answer(404, "application/problem+json", { code: "not_found", status: 404, detail: `No ${route}.` });
      }
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  return { keys, url: `http://127.0.0.1:${server.address().port}` };
}

function told({ keys }, result) {
  assert.deepEqual(result, { orders: ["ORD-1", "ORD-2"], refund: "rfd_1", missing: [true, "NotFoundError"] });
  assert.equal(keys.length, 2);
  assert.equal(new Set(keys).size, 1, "the retry has the key of the first try");
}

const PROGRAM = `${apps}/node/client.mjs`;
const RUNTIMES = [
  ["node", []],
  ["node22", []],
  ["node24", []],
  ["bun", ["run"]],
  ["deno", ["run", "--cached-only", "--allow-read", "--allow-net=127.0.0.1"]],
];

for (const [name, words] of RUNTIMES) {
  test(`the client in ${name}`, { skip: name !== "node" && elsewhere }, async (t) => {
    const server = await service(t);
    told(server, JSON.parse(await run(runtime(name), [...words, PROGRAM, server.url])));
  });
}

test("the client in workerd", async (t) => {
  const server = await service(t);
  const { outputFiles } = await esbuild.build({
    stdin: {
      contents: `
        import { story } from "./client.mjs";
        export default { fetch: async (_, env) => Response.json(await story(env.SERVICE)) };`,
      resolveDir: apps,
    },
    bundle: true,
    format: "esm",
    conditions: ["workerd"],
    write: false,
  });
  const worker = new Miniflare({
    modules: true,
    script: outputFiles[0].text,
    compatibilityDate: "2024-09-01",
    cf: false,
    bindings: { SERVICE: server.url },
  });
  t.after(() => worker.dispose());
  told(server, await (await worker.dispatchFetch("http://worker/")).json());
});
