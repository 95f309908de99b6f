// Pages that keep themselves up to date, in Chromium with its script: what arrives appears without reloading, and what
// somebody does meanwhile is left alone.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { authority } from "./authority.mjs";
import { launched, moved, settled } from "./pages.mjs";

let service;
let receiver;
let browser;
let endpoint;

before(async () => {
  receiver = await moved();
  service = await authority("acme", { AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS: "true", AUTHORITY_RETRY_SCHEDULE: "0" });
  endpoint = await service.merchant("POST", "/webhook-endpoints", { url: `${receiver.url}/old`, enabled_events: ["*"] });
  await happens();
  browser = await launched();
});

after(async () => {
  await browser?.close();
  await service?.end();
  receiver?.close();
});

/** Something that events tell of, and that is delivered or not. */
async function happens() {
  const body = { currency: "USD", line_items: [{ name: "Mug", quantity: 1, unit_amount: 900 }], pay: "paid" };
  const { order_number: number } = await service.sandbox("POST", "/orders", body);
  await settled(service, endpoint.id);
  return number;
}

/** A page that has not been loaded again since it was marked, and what it asked for and complained of. */
async function scripted(t, enter) {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const [complaints, requested] = [[], []];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => requested.push(request.url()));
  await enter(page);
  const mark = () => page.evaluate(() => { globalThis.marked = true; });
  const isMarked = () => page.evaluate(() => globalThis.marked === true);
  const listens = () => page.getByText("This page keeps itself up to date.").waitFor();
  return { context, page, complaints, requested, mark, isMarked, listens };
}

const inPortal = async (page) => {
  const path = `/merchants/${service.merchantId}/test/portal-sessions`;
  const { url } = await service.operator("POST", path, { scopes: ["events:read", "webhooks:manage"] });
  await page.goto(url);
  await page.getByRole("button", { name: "Open" }).click();
  await page.waitForURL(portal(""));
};
const inConsole = async (page) => {
  await page.goto(`${service.operatorApi}/console/sign-in`);
  await page.getByLabel("Operator key").fill(service.operatorKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${service.operatorApi}/console`);
};
const portal = (path) => `${service.merchantApi}/portal${path}`;
const rows = (page, caption) => page.locator("table", { hasText: caption }).locator("tbody tr");

test("what arrives appears, and a form that is filled in is left alone", async (t) => {
  const { page, complaints, requested, mark, isMarked, listens } = await scripted(t, inPortal);
  await page.goto(portal(`/endpoints/${endpoint.id}`));
  await listens();
  await mark();
  const description = page.getByLabel("Description");
  await description.fill("half a senten");
  const newest = rows(page, "Deliveries, newest first").first().locator("a").first();
  const before = await newest.getAttribute("href");
  await happens();
  const last = "[data-region=day] > .wide:last-of-type tbody a";
  await page.waitForFunction(([last, href]) => document.querySelector(last).getAttribute("href") !== href, [last, before]);
  assert.equal(await description.inputValue(), "half a senten");
  await page.keyboard.type("ce");
  assert.equal(await description.inputValue(), "half a sentence", "the focus is where it was");
  assert.ok(await isMarked(), "the page was not loaded again");

  // A recovery moves by itself.
  await page.getByLabel("URL", { exact: true }).fill(`${receiver.url}/hooks`);
  await page.getByRole("button", { name: "Change" }).click();
  await page.getByText("The endpoint was changed.").waitFor();
  await page.getByLabel("Since (UTC)").fill("2020-01-01T00:00:00Z");
  await page.getByRole("button", { name: "Count first" }).click();
  await page.getByRole("button", { name: "Send them" }).click();
  await page.getByText("The recovery has begun.").waitFor();
  await page.locator("section .state", { hasText: "completed" }).waitFor();
  await settled(service, endpoint.id);

  assert.deepEqual(complaints, []);
  assert.deepEqual(requested.filter((url) => !url.startsWith(service.merchantApi) && !url.startsWith("data:")), []);
});

test("rows keep their focus, nothing moves under the pointer, and it can be stopped", async (t) => {
  const { page, complaints, requested, mark, isMarked, listens } = await scripted(t, inPortal);
  await page.goto(portal("/events"));
  await listens();
  await mark();
  const first = rows(page, "Events, newest first").first();
  const newest = () => first.locator("a").first().getAttribute("href");
  const link = await newest();
  await page.locator(`tbody a[href="${link}"]`).focus();
  await happens();
  await page.waitForFunction((href) => document.querySelector("tbody a").getAttribute("href") !== href, link);
  const focused = await page.evaluate(() => document.activeElement.getAttribute("href"));
  assert.equal(focused, link, "the same event has the focus, further down");

  // While the pointer is on a link, what is under it stays; then what has happened appears.
  const second = await newest();
  await page.locator(`tbody a[href="${second}"]`).hover();
  const asked = page.waitForRequest((request) => request.headers()["x-requested-with"] === "live", { timeout: 6000 });
  await happens();
  await assert.rejects(asked, "nothing is asked for meanwhile");
  assert.equal(await newest(), second);
  await page.mouse.move(2, 2);
  await page.waitForFunction((href) => document.querySelector("tbody a").getAttribute("href") !== href, second);
  assert.ok(await isMarked());

  // Stopped is stopped, on the next page too.
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("This page is not kept up to date.").waitFor();
  requested.length = 0;
  await page.goto(portal(""));
  await page.getByText("This page is not kept up to date.").waitFor();
  assert.deepEqual(requested.filter((url) => url.includes("/live?")), []);
  await page.getByRole("button", { name: "Keep this page up to date" }).click();
  await listens();

  // Whoever signs out elsewhere is told here.
  const other = await page.context().newPage();
  await other.goto(portal(""));
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.close();
  await page.getByText("Your session has ended").waitFor();
  assert.deepEqual(complaints.filter((text) => !/status of 403/.test(text)), []);
});

test("the console follows too", async (t) => {
  const { page, complaints, requested, mark, isMarked, listens } = await scripted(t, inConsole);
  await listens();
  await mark();
  const figures = () => page.locator("figcaption").allInnerTexts();
  const before = await figures();
  const number = await happens();
  // Events and attempts.
  await page.waitForFunction((texts) => {
    const now = [...document.querySelectorAll("figcaption")].map(({ innerText }) => innerText);
    return now.length === 2 && now.every((text, n) => text !== texts[n]);
  }, before);
  assert.ok(await isMarked());

  // The story of an order, while its refund is typed.
  await page.goto(`${service.operatorApi}/console/orders/${service.merchantId}/test/${number}`);
  await listens();
  await mark();
  await page.getByLabel("Note").fill("because");
  const told = await page.locator("ol.story > li").count();
  await service.merchant("POST", `/orders/${number}/shipments`, { carrier: "dhl", tracking_number: "JD1" });
  await page.waitForFunction((count) => document.querySelectorAll("ol.story > li").length > count, told);
  await page.getByRole("link", { name: /^shp_/ }).first().waitFor();
  assert.equal(await page.getByLabel("Note").inputValue(), "because");
  assert.ok(await isMarked());
  assert.deepEqual(complaints, []);
  assert.deepEqual(requested.filter((url) => !url.startsWith(service.operatorApi) && !url.startsWith("data:")), []);
});
