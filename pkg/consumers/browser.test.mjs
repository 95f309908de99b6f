// The package in a real page: Chromium loads what Vite, webpack and esbuild make for browsers, over a socket of this
// machine, and no request leaves it.

import assert from "node:assert/strict";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import process from "node:process";
import test, { after, before } from "node:test";
import * as esbuild from "esbuild";
import { chromium } from "playwright-core";
import * as vite from "vite";
import { judged } from "./apps/judge.mjs";
import { apps, temporaryFolder, vectors } from "./running.mjs";
import { webpacked } from "./webpacked.mjs";

const root = `${apps}/browser`;
const { cases } = JSON.parse(readFileSync(vectors, "utf8"));
let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // Whoever is root has no sandbox to be had; names are not even looked up.
    chromiumSandbox: process.getuid() !== 0,
    args: ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
  });
});

after(() => browser?.close());

test("Vite, built: a page in Chromium", async (t) => {
  const outDir = temporaryFolder(t);
  await vite.build({ root, logLevel: "silent", build: { outDir, emptyOutDir: true } });
  await judgeIn(t, await served(t, outDir));
});

test("Vite, while developing: a page in Chromium", async (t) => {
  const server = await vite.createServer({
    root,
    logLevel: "silent",
    cacheDir: temporaryFolder(t),
    server: { host: "127.0.0.1", port: 0, watch: null, hmr: false, fs: { allow: [apps] } },
  });
  t.after(() => server.close());
  await server.listen();
  await judgeIn(t, server.resolvedUrls.local[0]);
});

test("webpack: a page in Chromium", async (t) => {
  const path = temporaryFolder(t);
  // The page has the texts of both modules in it, that of `explain` too: more than webpack recommends.
  const performance = { hints: false };
  await webpacked({ mode: "production", entry: `${root}/page.js`, output: { path, filename: "page.js" }, performance });
  copyFileSync(`${root}/index.html`, join(path, "index.html"));
  await judgeIn(t, await served(t, path));
});

for (const format of ["esm", "iife"]) {
  test(`esbuild, as ${format}: a page in Chromium`, async (t) => {
    const path = temporaryFolder(t);
    await esbuild.build({
      entryPoints: [`${root}/page.js`],
      bundle: true,
      minify: true,
      format,
      outdir: path,
      logLevel: "silent",
    });
    const page = readFileSync(`${root}/index.html`, "utf8");
    writeFileSync(join(path, "index.html"), format === "esm" ? page : page.replace(' type="module"', " defer"));
    await judgeIn(t, await served(t, path));
  });
}

/** Opens the page, has it judge the vectors, and sees that it asked nobody else for anything. */
async function judgeIn(t, address) {
  const page = await browser.newPage();
  t.after(() => page.close());
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== new URL(address).origin) complaints.push(request.url());
  });
  await page.goto(address);
  await page.waitForFunction(() => "judgeInPage" in globalThis);
  assert.deepEqual(await page.evaluate((cases) => globalThis.judgeInPage(cases), cases), judged);
  assert.deepEqual(complaints, []);
}

/** Serves the files of a folder, with a policy that lets a page compile WebAssembly and nothing else beyond its own. */
async function served(t, path) {
  const types = { ".html": "text/html", ".js": "text/javascript" };
  const server = createServer((request, response) => {
    const name = request.url === "/" ? "/index.html" : request.url;
    response.setHeader("content-type", types[extname(name)] ?? "application/octet-stream");
    response.setHeader("content-security-policy", "default-src 'self' data:; script-src 'self' 'wasm-unsafe-eval'");
    response.end(readFileSync(join(path, name)));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${server.address().port}/`;
}
