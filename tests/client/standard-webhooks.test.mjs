// The public library of Standard Webhooks for JavaScript, as it is published, verifies what a real authority sends to an
// endpoint with that profile (contract 15.12), and so does the package's verifier, by either profile.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import test, { after, before } from "node:test";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { authority } from "../openapi/authority.mjs";
import { Client } from "../../pkg/dist/esm/client/index.js";
import { Verifier } from "../../pkg/dist/esm/node.js";

let service;
let client;

before(async () => {
  service = await authority("standard", { AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS: "true", AUTHORITY_RETRY_SCHEDULE: "0,0" });
  client = new Client({ apiKey: service.key, baseUrl: service.merchantApi });
});

after(() => service?.end());

/** A receiver whose first answer is 500; `next` is the next delivery. */
async function receiver(t) {
  const [arrived, waiting] = [[], []];
  let count = 0;
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    response.writeHead((count += 1) === 1 ? 500 : 200).end();
    const delivery = { headers: request.headers, body: Buffer.concat(chunks) };
    const taker = waiting.shift();
    if (taker) taker(delivery);
    else arrived.push(delivery);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  const next = () => new Promise((resolve) => (arrived.length > 0 ? resolve(arrived.shift()) : waiting.push(resolve)));
  return { url: `http://127.0.0.1:${server.address().port}/hook`, next };
}

const NO_MATCH = (error) => error instanceof WebhookVerificationError && error.message === "No matching signature found";

test("every delivery verifies with either secret of a rotation, and nothing else does", async (t) => {
  const { url, next } = await receiver(t);
  const made = await client.endpoints.create({ url, signature_profile: "standard-webhooks" });
  assert.equal(made.signature_profile, "standard-webhooks");
  const rotated = await client.endpoints.rotateSecret(made.id, {});
  const { event_id: id } = await client.endpoints.test(made.id, {});
  for (const attempt of ["1", "2"]) {
    const { headers, body } = await next();
    assert.equal(headers["service-attempt"], attempt);
    assert.deepEqual([headers["webhook-id"], headers["webhook-timestamp"]], [id, headers["service-timestamp"]]);
    assert.equal(headers["webhook-signature"].split(" ").length, 2);
    for (const { secret } of [rotated, made]) {
      const webhook = new Webhook(secret);
      assert.equal(webhook.verify(body.toString("utf8"), headers).id, id);
      assert.throws(() => webhook.verify(`${body.toString("utf8")} `, headers), NO_MATCH);
      assert.throws(() => webhook.verify(body, { ...headers, "webhook-id": "evt_1" }), NO_MATCH);
      for (const profile of ["standard-webhooks", "service"]) {
        assert.equal(new Verifier(secret, { profile }).verify(body, headers).id, id);
      }
    }
  }
  await client.endpoints.retireSecret(made.id);
  await client.endpoints.test(made.id, {});
  const { headers, body } = await next();
  assert.equal(new Webhook(rotated.secret).verify(body, headers).type, "webhook.test");
  assert.throws(() => new Webhook(made.secret).verify(body, headers), NO_MATCH);
  assert.equal(new Verifier(made.secret, { profile: "standard-webhooks" }).check(body, headers).code, "invalid_signature");
});
