// The portal with the platform's name, colour and logo in Chromium: they are shown, the policy lets them, and what stands on
// any colour can be read.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { authority } from "./authority.mjs";
import { launched, looked } from "./pages.mjs";

const NAME = "Jones & Söhne <Shop>";
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20"><rect width="80" height="20" fill="gold"/></svg>`;

// Light, dark, and one whose contrast with black and with white is nearly the same.
for (const [color, text] of [["#ffdc00", "rgb(0, 0, 0)"], ["#000080", "rgb(255, 255, 255)"], ["#767676", "rgb(0, 0, 0)"]]) {
  test(`axe finds nothing on the portal in ${color}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "authority-brand-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const logo = join(folder, "logo.svg");
    writeFileSync(logo, LOGO);
    const settings = { AUTHORITY_PORTAL_NAME: NAME, AUTHORITY_PORTAL_COLOR: color, AUTHORITY_PORTAL_LOGO: logo };
    const service = await authority("acme", { AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS: "true", ...settings });
    t.after(() => service.end());
    const browser = await launched();
    t.after(() => browser.close());
    await service.merchant("POST", "/webhook-endpoints", { url: "http://127.0.0.1:9/", enabled_events: ["refund.*"] });
    const link = async () => {
      const path = `/merchants/${service.merchantId}/test/portal-sessions`;
      const body = { scopes: ["events:read", "webhooks:manage"], return_url: "http://127.0.0.1:9/back" };
      return (await service.operator("POST", path, body)).url;
    };
    const at = (path) => `${service.merchantApi}/portal${path}`;
    const pages = { home: at(""), endpoints: at("/endpoints"), link: await link(), over: at("/enter/nonsense") };
    await looked(browser, `brand-${color.slice(1)}`, pages, async (page) => {
      await page.goto(await link());
      await page.getByRole("button", { name: "Open" }).click();
      await page.waitForURL(at(""));
      const image = page.getByRole("banner").getByRole("img", { name: NAME });
      assert.deepEqual(await image.evaluate((it) => [it.naturalWidth, it.naturalHeight]), [80, 20]);
      assert.ok((await page.title()).endsWith(` – ${NAME}`));
      assert.equal(await page.getByRole("banner").evaluate((it) => getComputedStyle(it).color), text);
    });
  });
}
