// The merchant portal in Chromium, without JavaScript: a merchant is given a link, opens it, sees which endpoint fails and
// why, corrects it, recovers, sees the events arrive, rotates the secret and signs out. Then axe looks at every page, light
// and dark, narrow and wide.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { authority } from "./authority.mjs";
import { HOSTILE, launched, looked, moved, says, settled, withoutScript } from "./pages.mjs";

const BACK = "http://127.0.0.1:9/settings";
let service;
let receiver;
let browser;
let endpoint;

before(async () => {
  receiver = await moved();
  service = await authority("acme", { AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS: "true", AUTHORITY_RETRY_SCHEDULE: "0,0" });
  const { merchant, operator, merchantId } = service;
  await operator("PATCH", `/merchants/${merchantId}`, { name: HOSTILE.slice(0, 200) });
  const wanted = { url: `${receiver.url}/old`, enabled_events: ["*"], description: HOSTILE.slice(0, 200) };
  endpoint = await merchant("POST", "/webhook-endpoints", wanted);
  await service.sandbox("POST", "/orders", {
    currency: "USD", line_items: [{ name: HOSTILE.slice(0, 200), quantity: 2, unit_amount: 2400 }], pay: "paid",
  });
  await settled(service, endpoint.id);
  browser = await launched();
});

after(async () => {
  await browser?.close();
  await service?.end();
  receiver?.close();
});

/** A link, as the platform gets it. */
const link = async () => {
  const body = { scopes: ["events:read", "webhooks:manage"], return_url: BACK };
  return (await service.operator("POST", `/merchants/${service.merchantId}/test/portal-sessions`, body)).url;
};

const at = (path) => `${service.merchantApi}/portal${path}`;

test("a merchant mends an endpoint without JavaScript", async (t) => {
  const { context, page, complaints, requested, heading, button } = await withoutScript(browser, t);

  // Without a session there is nothing. The link is looked at, opened by keyboard, and works once.
  await page.goto(at(""));
  assert.equal(await heading(), "This link or session has ended");
  const url = await link();
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

  // What is wrong, and why.
  await page.locator(".problems > li", { hasText: `The endpoint ${receiver.url}/old fails` })
    .getByRole("link", { name: "Show the endpoint" }).click();
  await page.getByRole("link", { name: "All deliveries of this endpoint" }).click();
  await page.getByRole("combobox", { name: "Status" }).selectOption("failed");
  await button("Show").click();
  await page.locator("tbody th a").first().click();
  await page.getByText("The receiver answered 404: its log says why.").first().waitFor();
  assert.equal(await page.locator("main img").count(), 0, "what the receiver answered is text");
  await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();

  // The endpoint is corrected. A URL that is refused stays as it was typed.
  await page.getByRole("link", { name: endpoint.id }).click();
  await page.getByLabel("URL", { exact: true }).fill("gopher://nowhere");
  await button("Change").click();
  await page.getByRole("alert").getByText("endpoint_url_forbidden").waitFor();
  assert.equal(await page.getByLabel("URL", { exact: true }).inputValue(), "gopher://nowhere");
  await page.getByLabel("URL", { exact: true }).fill(`${receiver.url}/hooks`);
  await button("Change").click();
  await page.getByText("The endpoint was changed.").waitFor();

  // What it missed is counted, sent, and arrives.
  await page.getByLabel("Since (UTC)").fill("2020-01-01T00:00:00Z");
  await button("Count first").click();
  const count = Number.parseInt(await page.locator("strong").innerText(), 10);
  assert.ok(count > 0);
  assert.deepEqual(receiver.arrived, [], "nothing is sent before");
  await button("Send them").click();
  await page.getByText("The recovery has begun.").waitFor();
  await says(page, "completed");
  await settled(service, endpoint.id);
  assert.equal(new Set(receiver.arrived).size, count);

  // One of them once more, from the list of events.
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Events" }).click();
  await page.getByRole("combobox", { name: "Type" }).selectOption("order.created");
  await button("Show").click();
  await page.locator("tbody th a").first().click();
  await button(`Send once more to ${receiver.url}/hooks`).first().click();
  await page.getByText("The event is sent once more.").waitFor();
  await settled(service, endpoint.id);
  assert.equal(receiver.arrived.length, count + 1);

  // The secret is shown on the page that made it and on no other.
  await page.getByRole("link", { name: `${receiver.url}/hooks` }).first().click();
  await button("Rotate the secret").click();
  const secret = await page.locator("#secret").innerText();
  assert.match(secret, /^whsec_/);
  await page.getByRole("link", { name: "To the endpoint" }).click();
  assert.ok(!(await page.content()).includes(secret));

  // A new endpoint, and a page that keeps itself up to date for who asks for it.
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Endpoints" }).click();
  await page.getByLabel("URL", { exact: true }).fill(`${receiver.url}/hooks`);
  await page.getByLabel("Events", { exact: true }).fill("refund.*");
  await button("Create the endpoint").click();
  assert.match(await page.locator("#secret").innerText(), /^whsec_/);
  await page.getByRole("link", { name: "Portal" }).click();
  await page.getByText("Nothing is wrong").waitFor();
  await page.getByRole("link", { name: "Keep this page up to date" }).click();
  await page.getByText("loads itself again every 10 seconds").waitFor();
  await page.getByRole("link", { name: "Stop" }).click();

  // Signed out is signed out, with the old cookie too; and the way leads back.
  await button("Sign out").click();
  assert.equal(await heading(), "You are signed out");
  assert.equal(await page.getByRole("link").getAttribute("href"), BACK);
  await context.addCookies([cookie]);
  await page.goto(at("/endpoints"));
  assert.equal(await heading(), "This link or session has ended");
  assert.deepEqual(complaints.filter((text) => !/status of (403|422)/.test(text)), []);
  assert.deepEqual(requested.filter((asked) => !asked.startsWith(service.merchantApi) && !asked.startsWith("data:")), []);
});

test("axe finds nothing on any page, light and dark, narrow and wide", async () => {
  const deliveries = await service.operator("GET", `/deliveries?endpoint_id=${endpoint.id}`);
  const [{ id: delivery, event_id: event }] = deliveries.data.slice(-1);
  const paths = {
    overview: "", follows: "?follow=yes", endpoints: "/endpoints", endpoint: `/endpoints/${endpoint.id}`,
    explain: `/endpoints/${endpoint.id}/explain`, deliveries: `/deliveries?endpoint=${endpoint.id}&status=failed`,
    delivery: `/deliveries/${delivery}`, events: "/events", event: `/events/${event}`, missing: "/nowhere",
  };
  const pages = Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, at(path)]));
  await looked(browser, "portal", { ...pages, link: await link(), over: at("/enter/nonsense") }, async (page) => {
    await page.goto(await link());
    await page.getByRole("button", { name: "Open" }).click();
  });
});
