// The operator's console in Chromium, without JavaScript: an operator is told a tracking number on the phone, finds the
// order, sees why its events did not arrive, corrects the endpoint, recovers, sees them arrive, rotates the secret, closes
// the alert and signs out; once with a pointer and once by keyboard alone. Then axe looks at every page, light and dark,
// narrow and wide.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { authority } from "./authority.mjs";
import { byClicks, byKeys } from "./drivers.mjs";
import { HOSTILE, launched, looked, moved, ofEndpoint, refused, says, settled, withoutScript } from "./pages.mjs";

let service;
let browser;
let shop;

before(async () => {
  service = await authority("acme", { AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS: "true", AUTHORITY_RETRY_SCHEDULE: "0,0" });
  shop = await business(service, "JD0146007");
  browser = await launched();
});

after(async () => {
  await browser?.close();
  await service?.end();
});

/** A paid order with a parcel, whose events go where nobody takes them; and money that came too late. */
async function business({ merchant, merchantId }, tracking) {
  const { operator } = service;
  const receiver = await moved();
  const ref = (event) => `ref-${tracking}-${event}`;
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
      processor: { name: "acquirer", reference: ref(processor_event_id) },
      processor_event_id: ref(processor_event_id),
    });
    const report = (status) => operator("POST", `/payments/${payment.id}/reports`, {
      status, processor_event_id: `${ref(processor_event_id)}-${status}`,
    });
    return { checkout, payment, report };
  };
  const paid = await pay("ch_1");
  await paid.report("succeeded");
  const { order_number: number } = await merchant("GET", `/payments/${paid.payment.id}`);
  await merchant("POST", `/orders/${number}/shipments`, { carrier: "dhl", tracking_number: tracking });
  const late = await pay("ch_2");
  await operator("POST", `/checkouts/${late.checkout.id}/cancel`, {});
  await late.report("succeeded");
  await settled(service, endpoint.id);
  return { endpoint, number, paid, late, receiver, tracking, reference: ref("ch_1") };
}

const at = (path) => `${service.operatorApi}/console${path}`;

test("an operator mends an endpoint without JavaScript", async (t) => {
  t.after(() => shop.receiver.close());
  const visit = await withoutScript(browser, t);
  const { context, page, heading, button } = visit;

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
  await mends(visit, byClicks(page), shop);

  // Signed out is signed out, with the old cookie too.
  await context.addCookies([cookie]);
  await page.goto(at("/alerts"));
  assert.equal(await heading(), "Sign in");
});

test("an operator does the same by keyboard alone", async (t) => {
  const other = await business(await service.enter("other"), "JD0146008");
  t.after(() => other.receiver.close());
  const visit = await withoutScript(browser, t);
  const drive = byKeys(visit.page);
  await visit.page.goto(at("/alerts"));
  await drive.type(visit.page.getByLabel("Operator key"), service.operatorKey);
  await drive.press(visit.button("Sign in"));
  await mends(visit, drive, other);
});

/** From the list of alerts to the way out. */
async function mends({ page, complaints, requested, heading, button }, drive, shop) {
  const { receiver, endpoint, number, late, tracking, reference } = shop;
  const link = (name) => page.getByRole("link", { name });
  const url = page.getByLabel("URL", { exact: true });
  const find = async (text) => {
    await drive.type(page.getByRole("searchbox", { name: "Search" }), text);
    await drive.press(button("Find"));
    assert.equal(await heading(), `Order ${number}`);
  };
  assert.equal(await heading(), "Alerts");

  // What is wrong now: the endpoint and the money.
  await drive.press(link("Console"));
  const problems = page.locator(".problems > li");
  assert.equal(await problems.count(), 2);
  await problems.filter({ hasText: `The endpoint ${receiver.url}/old fails` }).waitFor();
  await problems.filter({ hasText: "48" }).getByRole("link", { name: "Show the record" }).waitFor();

  // The order, by the number of its parcel; and why nothing of it arrived.
  await find(tracking);
  await page.getByText("The receiver answered 404: its log says why.").first().waitFor();
  assert.equal(await page.locator("main img").count(), 0, "what the receiver answered is text");
  await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();

  // The endpoint is corrected. A URL that is refused stays as it was typed.
  await drive.press(link(`${receiver.url}/old`).first());
  await drive.type(url, "gopher://nowhere");
  await drive.press(button("Change"));
  await page.getByRole("alert").getByText("endpoint_url_forbidden").waitFor();
  assert.equal(await url.inputValue(), "gopher://nowhere");
  await drive.type(url, `${receiver.url}/hooks`);
  await drive.press(button("Change"));
  await page.getByText("The endpoint was changed.").waitFor();

  // What it missed is counted, sent, and arrives.
  const missed = page.locator("table", { hasText: "Newest events that have not arrived" }).locator("tbody tr");
  assert.equal(await missed.count(), 10, "the newest ten");
  await drive.press(link("All that has not arrived"));
  const all = await missed.count();
  await drive.press(link(`${receiver.url}/hooks`));
  await drive.type(page.getByLabel("Since (UTC)"), "2020-01-01T00:00:00Z");
  await drive.press(button("Count first"));
  const count = Number.parseInt(await page.locator("strong").innerText(), 10);
  assert.ok(count > 10);
  assert.equal(all, count, "the page beside the ten has all of them");
  assert.deepEqual(receiver.arrived, [], "nothing is sent before");
  await drive.press(button("Send them"));
  await page.getByText("The recovery has begun.").waitFor();
  await says(page, "completed", drive);
  await settled(service, endpoint.id);
  assert.equal(new Set(receiver.arrived).size, count);
  await find(reference);
  await page.locator(".fate .succeeded").first().waitFor();

  // One of them once more.
  await drive.press(button(`Send once more to ${receiver.url}/hooks`).first());
  await page.getByText("The event is sent once more.").waitFor();
  await settled(service, endpoint.id);
  assert.equal(receiver.arrived.length, count + 1);

  // The secret is shown on the page that made it and on no other; the previous one goes on for two days.
  await drive.press(page.locator(".fate").getByRole("link", { name: `${receiver.url}/hooks` }).first());
  await drive.type(page.getByLabel("Hours in which the previous secret signs too"), "48");
  await drive.press(button("Rotate the secret"));
  const secret = await page.locator("#secret").innerText();
  assert.match(secret, /^whsec_/);
  const until = Date.parse(await page.locator("main time").getAttribute("datetime"));
  assert.ok(Math.abs(until - Date.now() - 48 * 3600 * 1000) < 600_000, new Date(until).toISOString());
  await drive.press(link("To the endpoint"));
  assert.ok(!(await page.content()).includes(secret));
  assert.ok((await page.content()).includes(secret.slice(-3)));

  // The late money is given back, and the alert is closed.
  await drive.press(link("Alerts"));
  await drive.press(link(late.payment.id));
  await drive.type(page.getByLabel("Amount in USD"), "12.345");
  await drive.press(button("Request the refund"));
  await page.getByRole("alert").getByText("Must be an amount of USD such as 12.50.").waitFor();
  await drive.type(page.getByLabel("Amount in USD"), "12.50");
  await drive.press(button("Request the refund"));
  await page.getByText("The refund was requested.").waitFor();
  await drive.press(link("Alerts"));
  await drive.press(page.getByRole("button", { name: /^Close/ }));
  await page.getByText("The alert is closed.").waitFor();
  await page.getByText("No alert is open.").waitFor();

  // Whoever did all that is in the audit log.
  await drive.press(link("Audit log"));
  const log = await page.locator("tbody").innerText();
  for (const operation of ["console.sign_in", "endpoints.change", "endpoints.recover", "events.replay",
    "endpoints.rotate_secret", "payments.refund", "alerts.close"]) {
    assert.ok(log.includes(operation), operation);
  }
  await drive.press(button("Sign out"));
  assert.equal(await heading(), "Sign in");
  assert.deepEqual(complaints.filter((text) => !/status of (401|422)/.test(text)), []);
  assert.deepEqual(requested.filter((url) => !url.startsWith(service.operatorApi) && !url.startsWith("data:")), []);
}

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
  const pages = {
    ...Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, at(path)])),
    ...ofEndpoint(at(`/endpoints/${endpoint.id}`)),
    "refused-refund": refused(at(paths.order), "Amount in USD", "12.345", "Request the refund"),
    "refused-key": refused(at("/sign-in"), "Operator key", "svc_op_wrong", "Sign in"),
  };
  await looked(browser, "console", pages, async (page) => {
    await page.goto(at("/sign-in"));
    await page.getByLabel("Operator key").fill(service.operatorKey);
    await page.getByRole("button", { name: "Sign in" }).click();
  });
});
