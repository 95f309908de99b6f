// Who verifies. Each side is made once, as a receiver would, and then called for every delivery.
//
// A side gets the body as bytes, except where its library takes a string alone. Its headers are those of its own
// scheme: the same secret and body, signed as it expects. `verify-wasm` checks every rule of contract section 10; the
// others check the signature and, where they have one, the timestamp.

import { createHmac, timingSafeEqual } from "node:crypto";
import { SECRET } from "./deliveries.mjs";

const ours = () => import("../../pkg/dist/esm/node.js");
/** Standard Webhooks and Svix take the part behind the prefix as base64. */
const STANDARD_SECRET = `whsec_${Buffer.from(SECRET).toString("base64")}`;

export const sides = {
  "verify-wasm verify": async () => {
    const { Verifier } = await ours();
    const verifier = new Verifier(SECRET);
    return ({ body, headers }) => () => verifier.verify(body, headers);
  },
  "verify-wasm verifyEnvelope": async () => {
    const { Verifier } = await ours();
    const verifier = new Verifier(SECRET);
    return ({ body, headers }) => () => verifier.verifyEnvelope(body, headers);
  },
  "verify-wasm verify, without crypto.hash": async () => {
    // As in a browser or an older Node: the package finds no function to ask.
    process.getBuiltinModule = undefined;
    const { Verifier } = await ours();
    const verifier = new Verifier(SECRET);
    return ({ body, headers }) => () => verifier.verify(body, headers);
  },
  stripe: async () => {
    const { default: Stripe } = await import("stripe");
    const { webhooks } = new Stripe("sk_test_none");
    return ({ body, text, timestamp }) => {
      const header = webhooks.generateTestHeaderString({ payload: text, secret: SECRET, timestamp: Number(timestamp) });
      return () => webhooks.constructEvent(body, header, SECRET);
    };
  },
  standardwebhooks: async () => {
    const { Webhook } = await import("standardwebhooks");
    return standard(new Webhook(STANDARD_SECRET));
  },
  svix: async () => {
    const { Webhook } = await import("svix");
    return standard(new Webhook(STANDARD_SECRET));
  },
  "octokit + JSON.parse": async () => {
    const { sign, verify } = await import("@octokit/webhooks-methods");
    return async ({ text }) => {
      const signature = await sign(SECRET, text);
      return async () => {
        if (!(await verify(SECRET, text, signature))) throw new Error("invalid signature");
        return JSON.parse(text);
      };
    };
  },
  // Signature only, none of the other rules: what is written by hand with Node alone.
  "bare node:crypto + JSON.parse": async () => ({ body, headers }) => () => {
    const digest = createHmac("sha256", SECRET).update(`${headers["service-timestamp"]}.`).update(body).digest("hex");
    const candidate = headers["service-signature"].slice("v1=".length);
    if (!timingSafeEqual(Buffer.from(candidate), Buffer.from(digest))) throw new Error("invalid signature");
    return JSON.parse(body.toString());
  },
  // The floor for anything that returns an event.
  "JSON.parse alone": async () => ({ body }) => () => JSON.parse(body.toString()),
};

function standard(webhook) {
  return ({ text, timestamp, headers }) => {
    const id = headers["service-event-id"];
    const signature = webhook.sign(id, new Date(Number(timestamp) * 1000), text);
    const all = { ...headers, "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
    return () => webhook.verify(text, all);
  };
}
