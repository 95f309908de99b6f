// What programs that write programs read: /llms.txt and every document in Markdown, on both listeners.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import test, { after, before } from "node:test";
import { authority } from "./authority.mjs";

let service;

before(async () => {
  service = await authority();
});

after(() => service?.end());

const committed = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** What a GET answers; `fetch` alone would always say that it takes gzip. */
const plain = async (url, headers = {}) => {
  const response = await fetch(url, { headers: { "accept-encoding": "identity", ...headers } });
  return { response, text: await response.text() };
};

/** The targets of the links in a text, without those in code. */
const links = (text) =>
  [...text.replace(/^(```|~~~).*?^\1/gms, "").replace(/`[^`\n]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);

/** The fragments that headings make, as GitHub makes them. */
function anchors(text) {
  const seen = new Map();
  const headings = text.replace(/^(```|~~~).*?^\1/gms, "").matchAll(/^#{1,6} +(.*)$/gm);
  return new Set([...headings].map(([, heading]) => {
    const slug = heading.toLowerCase().replaceAll("`", "").replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  }));
}

for (const [listener, title, others] of [
  ["merchantApi", "# Merchant Commerce API and sandbox", ["/docs/api.md", "/openapi.json", "/docs/contract.md", "/docs/package.md"]],
  ["operatorApi", "# Operator API", ["/docs/api.md", "/openapi.json", "/docs/operations.md"]],
]) {
  test(`/llms.txt of ${listener} has the form of llmstxt.org, and is the index`, async () => {
    const { response, text } = await plain(`${service[listener]}/llms.txt`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/markdown; charset=utf-8");
    const lines = text.trimEnd().split("\n");
    assert.equal(lines[0], title);
    assert.match(lines[2], /^> \S/);
    assert.deepEqual(lines.filter((line) => line.startsWith("#")), [title, "## API", "## Documents", "## Optional"]);
    const lists = lines.slice(lines.indexOf("## API")).filter((line) => line !== "" && !line.startsWith("## "));
    for (const line of lists) assert.match(line, /^- \[[^\]]+\]\(\/[^)]+\): \S/);
    for (const link of others) assert.ok(links(text).includes(link), link);
    assert.equal((await plain(`${service[listener]}/docs/index.md`)).text, text);
  });

  test(`every link in the documents of ${listener} leads somewhere, to its heading too`, async () => {
    const pages = new Map();
    const read = async (url) => {
      if (!pages.has(url)) pages.set(url, await plain(url));
      return pages.get(url);
    };
    const waiting = [`${service[listener]}/llms.txt`];
    const looked = new Set();
    let count = 0;
    for (const page of waiting) {
      if (looked.has(page)) continue;
      looked.add(page);
      const { response, text } = await read(page);
      assert.equal(response.status, 200, page);
      if (!response.headers.get("content-type").startsWith("text/markdown")) continue;
      for (const target of links(text)) {
        const url = new URL(target, page);
        if (url.origin !== service[listener]) continue;
        count += 1;
        const whole = url.origin + url.pathname;
        waiting.push(whole);
        const { response: there, text: content } = await read(whole);
        assert.equal(there.status, 200, `${page} refers to ${target}`);
        if (url.hash) assert.ok(anchors(content).has(decodeURIComponent(url.hash.slice(1))), `${page} refers to ${target}`);
      }
    }
    assert.ok(looked.size >= 10 && count >= 80, `${looked.size} documents, ${count} links`);
  });
}

test("documents are served as documents are: in two forms, to HEAD, conditionally, and to nobody who writes", async () => {
  for (const path of ["/llms.txt", "/docs/contract.md", "/docs/api.md"]) {
    const url = service.merchantApi + path;
    const { response, text } = await plain(url);
    const tag = response.headers.get("etag");
    assert.match(tag, /^"[0-9a-f]{64}"$/);
    assert.deepEqual([response.headers.get("content-encoding"), response.headers.get("vary")], [null, "Accept-Encoding"]);
    assert.equal(response.headers.get("cache-control"), "no-store");
    const gzip = await fetch(url, { headers: { "accept-encoding": "gzip" } });
    assert.deepEqual([gzip.headers.get("content-encoding"), await gzip.text()], ["gzip", text]);
    assert.notEqual(gzip.headers.get("etag"), tag);
    const again = await plain(url, { "if-none-match": tag });
    assert.deepEqual([again.response.status, again.text, again.response.headers.get("etag")], [304, "", tag]);
    const head = await new Promise((resolve, reject) => {
      request(url, { method: "HEAD" }, (answer) => resolve(answer.resume())).on("error", reject).end();
    });
    assert.deepEqual([head.statusCode, head.headers.etag], [200, tag]);
    assert.equal(head.headers["content-length"], String(Buffer.byteLength(text)));
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const refused = await fetch(url, { method });
      assert.deepEqual([refused.status, (await refused.json()).code], [405, "method_not_allowed"], method);
    }
  }
  const absent = await plain(`${service.merchantApi}/docs/secrets.md`);
  assert.deepEqual([absent.response.status, JSON.parse(absent.text).code], [404, "not_found"]);
});

test("what is served is what the repository has, and the reference is that of the listener", async () => {
  const { text: hardening } = await plain(`${service.merchantApi}/docs/hardening.md`);
  assert.equal(hardening, committed("docs/hardening.md"), "a document whose links need no change");
  for (const [listener, file] of [["merchantApi", "merchant"], ["operatorApi", "operator"]]) {
    const { text } = await plain(`${service[listener]}/docs/api.md`);
    const document = JSON.parse(committed(`docs/openapi/${file}.json`));
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { operationId }] of Object.entries(methods)) {
        const heading = `\n### ${method.toUpperCase()} ${path}\n\n\`${operationId}\`: `;
        assert.equal(text.split(heading).length, 2, heading);
      }
    }
    for (const code of document.components.schemas.Problem.properties.code.enum) {
      assert.ok(text.slice(text.indexOf("\n## Error codes\n")).includes(`\`${code}\``), code);
    }
    for (const type of Object.keys(document.webhooks ?? {})) assert.ok(text.includes(`\n- \`${type}\`: `), type);
    assert.ok(text.length < 150_000, `${text.length} characters`);
  }
});
