// The operator's console in Chromium, without JavaScript: an operator is told a tracking number on the phone, finds the
// order, sees why its events did not arrive, corrects the endpoint, recovers, sees them arrive, rotates the secret, closes
// the alert and signs out. Then axe looks at every page, light and dark, narrow and wide.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { authority } from "./authority.mjs";
import { HOSTILE, launched, looked, moved, says, settled, withoutScript } from "./pages.mjs";

const TRACKING = "JD0146007";
let service;
let receiver;
let browser;
let shop;

before(async () => {
  receiver = await moved();
  service = await authority("acme", { AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS: "true", AUTHORITY_RETRY_SCHEDULE: "0,0" });
  shop = await business();
  browser = await launched();
});

after(async () => {
  await browser?.close();
  await service?.end();
  receiver?.close();
});

/** A paid order with a parcel, whose events go where nobody takes them; and money that came too late. */
async function business() {
  const { operator, merchant, merchantId } = service;
  const platform = `/merchants/${merchantId}/test`;
  const endpoint = await merchant("POST", "/webhook-endpoints", { url: `${receiver.url}/old`, enabled_events: ["*"] });
  const basket = {
    currency: "USD", customer: { reference: "c-77", name: HOSTILE.slice(0, 100) },
    line_items: [{ name: HOSTILE.slice(0, 200), quantity: 2, unit_amount: 2400 }],
  };
  const pay = async (processor_event_id) => {
    const checkout = await operator("POST", `${platform}/checkouts`, basket);
    const payment = await operator("POST", `${platform}/payments`, {
      checkout_id: checkout.id, amount: checkout.amounts.total, currency: "USD", method: { type: "card" },
      processor: { name: "acquirer", reference: `ref-${processor_event_id}` }, processor_event_id,
    });
    const report = (status) => operator("POST", `/payments/${payment.id}/reports`, {
      status, processor_event_id: `${processor_event_id}-${status}`,
    });
    return { checkout, payment, report };
  };
  const paid = await pay("ch_1");
  await paid.report("succeeded");
  const { order_number: number } = await merchant("GET", `/payments/${paid.payment.id}`);
  await merchant("POST", `/orders/${number}/shipments`, { carrier: "dhl", tracking_number: TRACKING });
  const late = await pay("ch_2");
  await operator("POST", `/checkouts/${late.checkout.id}/cancel`, {});
  await late.report("succeeded");
  await settled(service, endpoint.id);
  return { endpoint, number, paid, late };
}

const at = (path) => `${service.operatorApi}/console${path}`;

test("an operator mends an endpoint without JavaScript", async (t) => {
  const { context, page, complaints, requested, heading, button } = await withoutScript(browser, t);

  // A page that is asked for leads to the sign-in page and back.
  await page.goto(at("/alerts"));
  assert.equal(await heading(), "Sign in");
  await page.getByLabel("Operator key").fill("svc_op_wrong");
  await button("Sign in").click();
  await page.getByText("This is no operator key that works here.").waitFor();
  await page.getByLabel("Operator key").fill(service.operatorKey);
  await page.keyboard.press("Enter");
  await page.waitForURL(at("/alerts"));
  assert.equal(await heading(), "Alerts");
  const [cookie] = await context.cookies(at(""));
  assert.deepEqual(
    { name: cookie.name, path: cookie.path, httpOnly: cookie.httpOnly, secure: cookie.secure, sameSite: cookie.sameSite },
    { name: "console_session", path: "/console", httpOnly: true, secure: true, sameSite: "Strict" },
  );

  // What is wrong now: the endpoint and the money.
  await page.getByRole("link", { name: "Console" }).click();
  const problems = page.locator(".problems > li");
  assert.equal(await problems.count(), 2);
  await problems.filter({ hasText: `The endpoint ${receiver.url}/old fails` }).waitFor();
  await problems.filter({ hasText: "48" }).getByRole("link", { name: "Show the record" }).waitFor();

  // The order, by the number of its parcel; and why nothing of it arrived.
  await page.getByRole("searchbox", { name: "Search" }).fill(TRACKING);
  await button("Find").click();
  assert.equal(await heading(), `Order ${shop.number}`);
  await page.getByText("The receiver answered 404: its log says why.").first().waitFor();
  assert.equal(await page.locator("main img").count(), 0, "what the receiver answered is text");
  await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();

  // The endpoint is corrected. A URL that is refused stays as it was typed.
  await page.getByRole("link", { name: `${receiver.url}/old` }).first().click();
  await page.getByLabel("URL", { exact: true }).fill("gopher://nowhere");
  await button("Change").click();
  await page.getByRole("alert").getByText("endpoint_url_forbidden").waitFor();
  assert.equal(await page.getByLabel("URL", { exact: true }).inputValue(), "gopher://nowhere");
  await page.getByLabel("URL", { exact: true }).fill(`${receiver.url}/hooks`);
  await button("Change").click();
  await page.getByText("The endpoint was changed.").waitFor();

  // What it missed is counted, sent, and arrives.
  const missed = await page.locator("table", { hasText: "Newest events that have not arrived" }).locator("tbody tr").count();
  assert.equal(missed, 10, "the newest ten");
  await page.getByLabel("Since (UTC)").fill("2020-01-01T00:00:00Z");
  await button("Count first").click();
  const count = Number.parseInt(await page.locator("strong").innerText(), 10);
  assert.ok(count >= 10);
  assert.deepEqual(receiver.arrived, [], "nothing is sent before");
  await button("Send them").click();
  await page.getByText("The recovery has begun.").waitFor();
  await says(page, "completed");
  await settled(service, shop.endpoint.id);
  assert.equal(new Set(receiver.arrived).size, count);
  await page.getByRole("searchbox", { name: "Search" }).fill("ref-ch_1");
  await button("Find").click();
  assert.equal(await heading(), `Order ${shop.number}`);
  await page.locator(".fate .succeeded").first().waitFor();

  // One of them once more.
  await button(`Send once more to ${receiver.url}/hooks`).first().click();
  await page.getByText("The event is sent once more.").waitFor();
  await settled(service, shop.endpoint.id);
  assert.equal(receiver.arrived.length, count + 1);

  // The secret is shown on the page that made it and on no other.
  await page.locator(".fate").getByRole("link", { name: `${receiver.url}/hooks` }).first().click();
  await button("Rotate the secret").click();
  const secret = await page.locator("#secret").innerText();
  assert.match(secret, /^whsec_/);
  await page.getByRole("link", { name: "To the endpoint" }).click();
  assert.ok(!(await page.content()).includes(secret));
  assert.ok((await page.content()).includes(secret.slice(-3)));

  // The late money is given back, and the alert is closed.
  await page.getByRole("link", { name: "Alerts" }).click();
  await page.getByRole("link", { name: shop.late.payment.id }).click();
  await page.getByLabel("Amount in USD").fill("12.345");
  await button("Request the refund").click();
  await page.getByRole("alert").getByText("Must be an amount of USD such as 12.50.").waitFor();
  await page.getByLabel("Amount in USD").fill("12.50");
  await button("Request the refund").click();
  await page.getByText("The refund was requested.").waitFor();
  await page.getByRole("link", { name: "Alerts" }).click();
  await page.getByRole("button", { name: /^Close/ }).click();
  await page.getByText("The alert is closed.").waitFor();
  await page.getByText("No alert is open.").waitFor();

  // Whoever did all that is in the audit log.
  await page.getByRole("link", { name: "Audit log" }).click();
  const log = await page.locator("tbody").innerText();
  for (const operation of ["console.sign_in", "endpoints.change", "endpoints.recover", "events.replay",
    "endpoints.rotate_secret", "payments.refund", "alerts.close"]) {
    assert.ok(log.includes(operation), operation);
  }

  // Signed out is signed out, with the old cookie too.
  await button("Sign out").click();
  assert.equal(await heading(), "Sign in");
  await context.addCookies([cookie]);
  await page.goto(at("/alerts"));
  assert.equal(await heading(), "Sign in");
  assert.deepEqual(complaints.filter((text) => !/status of (401|422)/.test(text)), []);
  assert.deepEqual(requested.filter((url) => !url.startsWith(service.operatorApi) && !url.startsWith("data:")), []);
});

test("axe finds nothing on any page, light and dark, narrow and wide", async () => {
  const { endpoint, number, paid } = shop;
  const deliveries = await service.operator("GET", `/deliveries?endpoint_id=${endpoint.id}`);
  const [{ id: delivery, event_id: event }] = deliveries.data.slice(-1);
  const paths = {
    "sign-in": "/sign-in", overview: "", search: "/search?q=c-77", nothing: "/search?q=nothing",
    order: `/orders/${service.merchantId}/test/${number}`, event: `/events/${event}`, delivery: `/deliveries/${delivery}`,
    deliveries: "/deliveries?status=failed", endpoint: `/endpoints/${endpoint.id}`, record: `/records/${paid.payment.id}`,
    merchants: "/merchants", merchant: `/merchants/${service.merchantId}?mode=test`, alerts: "/alerts",
    closed: "/alerts?status=closed", audit: "/audit-log", missing: "/nowhere", explain: `/endpoints/${endpoint.id}/explain`,
  };
  const pages = Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, at(path)]));
  await looked(browser, "console", pages, async (page) => {
    await page.goto(at("/sign-in"));
    await page.getByLabel("Operator key").fill(service.operatorKey);
    await page.getByRole("button", { name: "Sign in" }).click();
  });
});
