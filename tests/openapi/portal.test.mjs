// The merchant portal in Chromium, without JavaScript: a merchant is given a link, opens it, sees which endpoint fails and
// why, corrects it, recovers, sees the events arrive, rotates the secret and signs out; once with a pointer and once by
// keyboard alone. Then axe looks at every page, light and dark, narrow and wide.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { authority } from "./authority.mjs";
import { byClicks, byKeys } from "./drivers.mjs";
import { HOSTILE, launched, looked, moved, ofEndpoint, refused, says, settled, withoutScript } from "./pages.mjs";

const BACK = "http://127.0.0.1:9/settings";
let service;
let browser;
let shop;

before(async () => {
  service = await authority("acme", { AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS: "true", AUTHORITY_RETRY_SCHEDULE: "0,0" });
  shop = await business(service);
  browser = await launched();
});

after(async () => {
  await browser?.close();
  await service?.end();
});

/** A merchant whose events go where nobody takes them. */
async function business({ merchant, merchantId, sandbox }) {
  const receiver = await moved();
  await service.operator("PATCH", `/merchants/${merchantId}`, { name: HOSTILE.slice(0, 200) });
  const wanted = { url: `${receiver.url}/old`, enabled_events: ["*"], description: HOSTILE.slice(0, 200) };
  const endpoint = await merchant("POST", "/webhook-endpoints", wanted);
  await sandbox("POST", "/orders", {
    currency: "USD", line_items: [{ name: HOSTILE.slice(0, 200), quantity: 2, unit_amount: 2400 }], pay: "paid",
  });
  await settled(service, endpoint.id);
  return { receiver, endpoint, merchantId };
}

/** A link, as the platform gets it. */
const link = async ({ merchantId }) => {
  const body = { scopes: ["events:read", "webhooks:manage"], return_url: BACK };
  return (await service.operator("POST", `/merchants/${merchantId}/test/portal-sessions`, body)).url;
};

const at = (path) => `${service.merchantApi}/portal${path}`;

test("a merchant mends an endpoint without JavaScript", async (t) => {
  t.after(() => shop.receiver.close());
  const visit = await withoutScript(browser, t);
  const { context, page, heading } = visit;

  // Without a session there is nothing. The link is looked at, opened by keyboard, and works once.
  await page.goto(at(""));
  assert.equal(await heading(), "This link or session has ended");
  const url = await link(shop);
  assert.ok(url.startsWith(at("/enter/")), url);
  await page.goto(url);
  await page.reload();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(at(""));
  assert.equal(await heading(), "What is wrong now");
  const [cookie] = await context.cookies(at(""));
  assert.deepEqual(
    { name: cookie.name, path: cookie.path, httpOnly: cookie.httpOnly, secure: cookie.secure, sameSite: cookie.sameSite },
    { name: "portal_session", path: "/portal", httpOnly: true, secure: true, sameSite: "Strict" },
  );
  const other = await context.newPage();
  await other.goto(url);
  assert.equal(await other.locator("h1").innerText(), "This link or session has ended");
  await other.close();
  await mends(visit, byClicks(page), shop);

  // Signed out is signed out, with the old cookie too.
  await context.addCookies([cookie]);
  await page.goto(at("/endpoints"));
  assert.equal(await heading(), "This link or session has ended");
});

test("a merchant does the same by keyboard alone", async (t) => {
  const other = await business(await service.enter("other"));
  t.after(() => other.receiver.close());
  const visit = await withoutScript(browser, t);
  const drive = byKeys(visit.page);
  await visit.page.goto(await link(other));
  await drive.press(visit.button("Open"));
  await mends(visit, drive, other);
});

/** From the first page to the way out. */
async function mends({ page, complaints, requested, heading, button }, drive, { receiver, endpoint }) {
  const link = (name) => page.getByRole("link", { name });
  const place = (name) => page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name });
  const url = page.getByLabel("URL", { exact: true });
  assert.equal(await heading(), "What is wrong now");

  // What is wrong, and why.
  await drive.press(page.locator(".problems > li", { hasText: `The endpoint ${receiver.url}/old fails` })
    .getByRole("link", { name: "Show the endpoint" }));
  await drive.press(link("All deliveries of this endpoint"));
  await drive.choose(page.getByRole("combobox", { name: "Status" }), "failed");
  await drive.press(button("Show"));
  await drive.press(page.locator("tbody th a").first());
  await page.getByText("The receiver answered 404: its log says why.").first().waitFor();
  assert.equal(await page.locator("main img").count(), 0, "what the receiver answered is text");
  await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();

  // The endpoint is corrected. A URL that is refused stays as it was typed.
  await drive.press(link(endpoint.id));
  await drive.type(url, "gopher://nowhere");
  await drive.press(button("Change"));
  await page.getByRole("alert").getByText("endpoint_url_forbidden").waitFor();
  assert.equal(await url.inputValue(), "gopher://nowhere");
  await drive.type(url, `${receiver.url}/hooks`);
  await drive.press(button("Change"));
  await page.getByText("The endpoint was changed.").waitFor();

  // What it missed is counted, sent, and arrives.
  await drive.type(page.getByLabel("Since (UTC)"), "2020-01-01T00:00:00Z");
  await drive.press(button("Count first"));
  const count = Number.parseInt(await page.locator("strong").innerText(), 10);
  assert.ok(count > 0);
  assert.deepEqual(receiver.arrived, [], "nothing is sent before");
  await drive.press(button("Send them"));
  await page.getByText("The recovery has begun.").waitFor();
  await says(page, "completed", drive);
  await settled(service, endpoint.id);
  assert.equal(new Set(receiver.arrived).size, count);

  // One of them once more, from the list of events.
  await drive.press(place("Events"));
  await drive.choose(page.getByRole("combobox", { name: "Type" }), "order.created");
  await drive.press(button("Show"));
  await drive.press(page.locator("tbody th a").first());
  await drive.press(button(`Send once more to ${receiver.url}/hooks`).first());
  await page.getByText("The event is sent once more.").waitFor();
  await settled(service, endpoint.id);
  assert.equal(receiver.arrived.length, count + 1);

  // The secret is shown on the page that made it and on no other; the previous one goes on for two days.
  await drive.press(link(`${receiver.url}/hooks`).first());
  await drive.type(page.getByLabel("Hours in which the previous secret signs too"), "48");
  await drive.press(button("Rotate the secret"));
  const secret = await page.locator("#secret").innerText();
  assert.match(secret, /^whsec_/);
  const until = Date.parse(await page.locator("main time").getAttribute("datetime"));
  assert.ok(Math.abs(until - Date.now() - 48 * 3600 * 1000) < 600_000, new Date(until).toISOString());
  await drive.press(link("To the endpoint"));
  assert.ok(!(await page.content()).includes(secret));

  // A new endpoint, and a page that keeps itself up to date for who asks for it.
  await drive.press(place("Endpoints"));
  await drive.type(url, `${receiver.url}/hooks`);
  await drive.type(page.getByLabel("Events", { exact: true }), "refund.*");
  await drive.press(button("Create the endpoint"));
  assert.match(await page.locator("#secret").innerText(), /^whsec_/);
  await drive.press(link("Portal"));
  await page.getByText("Nothing is wrong").waitFor();
  await drive.press(link("Keep this page up to date"));
  await page.getByText("loads itself again every 10 seconds").waitFor();
  await drive.press(link("Stop"));

  // The way leads back.
  await drive.press(button("Sign out"));
  assert.equal(await heading(), "You are signed out");
  assert.equal(await page.getByRole("link").getAttribute("href"), BACK);
  assert.deepEqual(complaints.filter((text) => !/status of (403|422)/.test(text)), []);
  assert.deepEqual(requested.filter((asked) => !asked.startsWith(service.merchantApi) && !asked.startsWith("data:")), []);
}

test("axe finds nothing on any page, light and dark, narrow and wide", async () => {
  const { endpoint } = shop;
  const deliveries = await service.operator("GET", `/deliveries?endpoint_id=${endpoint.id}`);
  const [{ id: delivery, event_id: event }] = deliveries.data.slice(-1);
  const paths = {
    overview: "", follows: "?follow=yes", endpoints: "/endpoints", endpoint: `/endpoints/${endpoint.id}`,
    explain: `/endpoints/${endpoint.id}/explain`, deliveries: `/deliveries?endpoint=${endpoint.id}&status=failed`,
    delivery: `/deliveries/${delivery}`, events: "/events", event: `/events/${event}`, keys: "/api-keys",
    missing: "/nowhere",
  };
  const signedOut = async (page) => {
    await page.goto(at(""));
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out").waitFor();
  };
  const pages = {
    ...Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, at(path)])),
    ...ofEndpoint(at(`/endpoints/${endpoint.id}`)),
    "refused-endpoint": refused(at("/endpoints"), "URL", "gopher://nowhere", "Create the endpoint"),
    link: await link(shop), over: at("/enter/nonsense"), "signed-out": signedOut, "no-session": at(""),
  };
  await looked(browser, "portal", pages, async (page) => {
    await page.goto(await link(shop));
    await page.getByRole("button", { name: "Open" }).click();
  });
});
