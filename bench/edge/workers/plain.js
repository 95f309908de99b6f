// What is written by hand: the signature by WebCrypto, then JSON.parse. None of the other rules.

let key;

/** The event of a delivery whose signature holds. */
export async function verified(request, env) {
  key ??= crypto.subtle.importKey("raw", encoder.encode(env.SIGNING_SECRET), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const body = new Uint8Array(await request.arrayBuffer());
  const prefix = encoder.encode(`${request.headers.get("service-timestamp")}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  const digest = hexadecimal(request.headers.get("service-signature").slice("v1=".length));
  if (!(await crypto.subtle.verify("HMAC", await key, digest, signed))) throw new Error("invalid signature");
  return JSON.parse(decoder.decode(body));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function hexadecimal(text) {
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = Number.parseInt(text.slice(2 * index, 2 * index + 2), 16);
  return bytes;
}

export default {
  async fetch(request, env) {
    await verified(request, env);
    return Response.json({ code: "ok" });
  },
};
