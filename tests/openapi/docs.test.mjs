// The documents and the page as the running service serves them: /openapi.json on both listeners, /docs in Chromium.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import process from "node:process";
import test, { after, before } from "node:test";
import { chromium } from "playwright-core";
import { authority } from "./authority.mjs";

const committed = (file) => readFileSync(new URL(`../../docs/openapi/${file}`, import.meta.url), "utf8");
const SAMPLES = ["curl", "verify-wasm/client", "Python", "Go", "PHP", "Ruby", "Java"];
/** What a reader meets first. */
const FIRST = { "merchant.json": "orders", "operator.json": "merchants" };
const screenshots = process.env.SCREENSHOTS;
let service;
let browser;

before(async () => {
  service = await authority();
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // Whoever is root has no sandbox to be had; names are not even looked up.
    chromiumSandbox: process.getuid() !== 0,
    args: ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
  });
});

after(async () => {
  await browser?.close();
  await service?.end();
});

for (const [file, listener] of [["merchant.json", "merchantApi"], ["operator.json", "operatorApi"]]) {
  test(`${file} is served as it is committed, to everybody`, async () => {
    const response = await fetch(`${service[listener]}/openapi.json`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.equal(await response.text(), committed(file));
    const tag = response.headers.get("etag");
    assert.match(tag, /^"[0-9a-f]{64}"$/);
    assert.equal(response.headers.get("content-encoding"), "gzip");
    for (const coding of ["identity", "gzip;q=0", "br"]) {
      const plain = await fetch(`${service[listener]}/openapi.json`, { headers: { "accept-encoding": coding } });
      assert.deepEqual([plain.headers.get("content-encoding"), plain.headers.get("vary")], [null, "Accept-Encoding"], coding);
      assert.equal(await plain.text(), committed(file));
      assert.notEqual(plain.headers.get("etag"), tag, "each form has a tag of its own");
    }
    const again = await fetch(`${service[listener]}/openapi.json`, { headers: { "if-none-match": tag } });
    assert.deepEqual([again.status, await again.text(), again.headers.get("etag")], [304, "", tag]);
    const other = await fetch(`${service[listener]}/openapi.json`, { headers: { "if-none-match": '"1"' } });
    assert.equal(other.status, 200);
    await other.arrayBuffer();
  });

  test(`the page of ${file} shows every operation and every webhook, and asks nobody else`, async (t) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
    t.after(() => page.close());
    // A bound, not a goal: on a machine with much other work the page takes longer than the usual half minute.
    page.setDefaultTimeout(120_000);
    const complaints = [];
    const requested = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("request", (request) => requested.push(request.url()));
    const response = await page.goto(`${service[listener]}/docs`);
    assert.match(response.headers()["content-security-policy"], /^default-src 'none'; script-src 'self';/);
    const document = JSON.parse(committed(file));
    const webhooks = Object.values(document.webhooks ?? {});
    const operations = [...Object.values(document.paths), ...webhooks].flatMap((methods) => Object.values(methods));
    await page.waitForFunction((n) => globalThis.document.querySelectorAll(".opblock").length === n, operations.length);
    assert.equal(await page.locator(".webhooks .opblock").count(), webhooks.length);
    assert.equal(await page.title(), document.info.title);
    assert.equal(await page.locator(".opblock-tag").first().getAttribute("data-tag"), FIRST[file]);
    assert.equal(await page.locator(".authorize").count(), 0, "nothing is sent from here, so there is no key to give");
    const groups = await page.locator(".opblock-tag small").allTextContents();
    assert.deepEqual(groups.filter((about) => about.trim() === ""), []);
    // One of them, opened: what it takes and what it answers is there to be read.
    await page.locator(".opblock-post").first().click();
    await page.locator(".opblock.is-open .responses-table").first().waitFor();
    // And how a program asks for it, in the language that the reader chooses.
    const samples = page.locator(".opblock.is-open .samples");
    const languages = file === "merchant.json" ? SAMPLES : SAMPLES.filter((label) => !label.includes("client"));
    assert.deepEqual(await samples.locator("option").allTextContents(), languages);
    await samples.getByText("curl --fail-with-body").waitFor();
    await samples.locator("select").selectOption("Go");
    await samples.getByText("package main").waitFor();
    if (screenshots) {
      mkdirSync(screenshots, { recursive: true });
      await samples.screenshot({ path: `${screenshots}/${file}-samples.png` });
    }
    if (screenshots) await page.screenshot({ path: `${screenshots}/${file}.png` });
    for (const { post } of webhooks.slice(0, 1)) {
      const webhook = page.locator(".webhooks .opblock", { hasText: post.summary });
      await webhook.click();
      await webhook.locator(".parameters", { hasText: "Service-Signature" }).waitFor();
      await webhook.locator(".responses-table", { hasText: "410" }).waitFor();
      await webhook.getByText('"evt_').first().waitFor();
      if (screenshots) await webhook.screenshot({ path: `${screenshots}/webhook.png` });
    }
    assert.deepEqual(complaints, []);
    const strangers = requested.filter((url) => !url.startsWith(service[listener]) && !url.startsWith("data:"));
    assert.deepEqual(strangers, []);
    assert.ok(requested.includes(`${service[listener]}/openapi.json`));
  });
}

test("the page has its licence beside it, and no other file", async () => {
  const licence = await fetch(`${service.merchantApi}/docs/LICENSE`);
  assert.match(await licence.text(), /Apache License\s+Version 2\.0/);
  for (const name of ["..%2FLICENSE", "LICENSE.gz", "%FF", "index.html"]) {
    const response = await fetch(`${service.merchantApi}/docs/${name}`);
    assert.deepEqual([response.status, (await response.json()).code], [404, "not_found"], name);
  }
});
