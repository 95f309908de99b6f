// What the tests of the console's and of the portal's pages share: a browser, a receiver that has moved, and axe.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import process from "node:process";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const screenshots = process.env.SCREENSHOTS;

// By name: their category has the rule of level AAA as well, which no platform's colour can be held to.
const OF_COLORS = ["color-contrast", "link-in-text-block"];

/** A text that a page must only show. */
export const HOSTILE = "<img src=x onerror=alert(1)> \u202egnp.exe & \u200b\"quoted\" " + "long".repeat(60);

/** Chromium, which reaches this machine alone. */
export const launched = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  // Whoever is root has no sandbox to be had; names are not even looked up.
  chromiumSandbox: process.getuid() !== 0,
  args: ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
});

/** A page of a browser that runs no script, and what it complained of and asked for. */
export async function withoutScript(browser, t) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  t.after(() => context.close());
  const page = await context.newPage();
  const complaints = [];
  const requested = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("request", (request) => requested.push(request.url()));
  const heading = () => page.locator("h1").innerText();
  const button = (name) => page.getByRole("button", { name });
  return { context, page, complaints, requested, heading, button };
}

/** A receiver that has moved: it takes deliveries at /hooks and knows no other path. */
export async function moved() {
  const arrived = [];
  const server = createServer((request, response) => {
    const taken = request.url === "/hooks";
    if (taken) arrived.push(request.headers["service-event-id"]);
    request.resume().on("end", () => response.writeHead(taken ? 200 : 404).end(taken ? "" : HOSTILE));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, arrived, close };
}

/** Waits until nothing is sent to the endpoint any more. */
export async function settled(service, endpoint) {
  for (;;) {
    const { data } = await service.operator("GET", `/deliveries?endpoint_id=${endpoint}&status=pending`);
    if (data.length === 0) return;
  }
}

/** Loads the page again until the recovery is this far. */
export async function says(page, status, drive) {
  while (await page.locator("section .state", { hasText: status }).count() === 0) {
    await drive.press(page.getByRole("link", { name: "Look again" }));
  }
}

/** What was typed into a form that is refused, on the page that says so. */
export const refused = (address, label, text, send) => async (page) => {
  await page.goto(address);
  await page.getByLabel(label, { exact: true }).fill(text);
  await page.getByRole("button", { name: send, exact: true }).click();
  await page.getByRole("alert").waitFor();
};

/** The pages that follow the forms of an endpoint, whose page is at `address`. */
export const ofEndpoint = (address) => ({
  secret: async (page) => {
    await page.goto(address);
    const force = page.getByLabel("End the overlap that is open now");
    if (await force.count() > 0) await force.check();
    await page.getByRole("button", { name: "Rotate the secret" }).click();
    await page.locator("#secret").waitFor();
  },
  rotated: address,
  counted: async (page) => {
    await page.goto(address);
    await page.getByLabel("Since (UTC)").fill("2020-01-01T00:00:00Z");
    await page.getByRole("button", { name: "Count first" }).click();
    await page.getByRole("button", { name: "Send them" }).waitFor();
  },
  recovering: async (page) => {
    await page.getByRole("button", { name: "Send them" }).click();
    await page.getByText("The recovery has begun.").waitFor();
  },
  explained: async (page) => {
    await page.goto(`${address}/explain`);
    await page.locator("textarea").first().fill("service-signature: v1=00");
    await page.locator("textarea").last().fill("{}");
    await page.locator("main button").click();
    await page.getByText("Likely causes").first().waitFor();
  },
  undelivered: `${address}/undelivered`,
  recoveries: `${address}/recoveries`,
  "refused-url": refused(address, "URL", "gopher://nowhere", "Change"),
  "wrong-method": `${address}/rotate`,
});

/**
 * Has axe look at every page, narrow and wide, light and dark: in the dark at the rules about colours alone, because the
 * style sheet changes nothing else. `enter` lets a page in; `pages` are names and addresses, or what leads there, which
 * may go on from the page before. The page `follows` loads itself again because whoever looks at it has asked for that,
 * which axe cannot know (WCAG 2.2.1).
 */
export async function looked(browser, site, pages, enter) {
  if (screenshots) mkdirSync(screenshots, { recursive: true });
  for (const width of [360, 1600]) {
    const context = await browser.newContext({ viewport: { width, height: 900 } });
    const page = await context.newPage();
    const complaints = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    await enter(page);
    for (const [name, address] of Object.entries(pages)) {
      await page.emulateMedia({ colorScheme: "light" });
      await (typeof address === "string" ? page.goto(address) : address(page));
      await page.evaluate(AXE);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        const rules = { "meta-refresh": { enabled: name !== "follows" } };
        // What it found is wanted whole. Of what passes it is enough that there is some: to name and to carry over every
        // element takes longer than to look at it.
        const wanted = { resultTypes: ["violations"], selectors: false };
        const options = { ...wanted, ...(colorScheme === "dark" ? { runOnly: OF_COLORS } : { rules }) };
        const { violations, passes } = await page.evaluate((options) => globalThis.axe.run(options), options);
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
        assert.deepEqual(found, [], `${name}, ${colorScheme}, ${width}`);
        assert.ok(passes.some(({ id }) => id === "color-contrast"), `${name}, ${colorScheme}: axe saw no text`);
        if (screenshots) {
          await page.screenshot({ path: `${screenshots}/${site}-${name}-${colorScheme}-${width}.png`, fullPage: true });
        }
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name} is ${wide} wide at ${width}`);
    }
    assert.deepEqual(complaints.filter((text) => !/status of (401|403|404|405|422)/.test(text)), []);
    await context.close();
  }
}
