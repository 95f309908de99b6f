// What the module asks of the runtime on the way of a delivery, each in one call.
//
// A call from the module into JavaScript costs about as much as hashing half a kilobyte, and a text that crosses is
// decoded or encoded each time. So what belongs together crosses together; `runtime.rs` tells what is asked for and
// why. Nothing is decided here.

// In the order of `head::Line`; a test holds the two to each other.
const LINES = [
  "content-type",
  "content-encoding",
  "content-length",
  "transfer-encoding",
  "service-timestamp",
  "service-signature",
  "service-event-id",
  "authorization",
];

// The same places with the headers of Standard Webhooks (contract 15.12); the test compares these too.
const STANDARD_NAMES = {
  "service-timestamp": "webhook-timestamp",
  "service-signature": "webhook-signature",
  "service-event-id": "webhook-id",
};
const STANDARD_LINES = LINES.map((name) => STANDARD_NAMES[name] ?? name);

// Method, URL and the lines above, one below the other. None of them can contain a line end, so a carriage return says
// that there is no such header.
export const head = (request, isStandard) => {
  const { headers } = request;
  let head = `${request.method}\n${request.url}`;
  for (const name of isStandard ? STANDARD_LINES : LINES) head += `\n${headers.get(name) ?? "\r"}`;
  return head;
};

export const whole = (message) => message.arrayBuffer();

// The body of a request or a response, `undefined` when it has none, `null` when it is longer than `limit` bytes.
export const bounded = async ({ body }, limit) => {
  if (body === null) return undefined;
  const chunks = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit) return null;
    chunks.push(chunk);
  }
  return new Blob(chunks).arrayBuffer();
};

// `name` and `value`: one more header, if they are there.
export const respond = (status, body, isPrivate, name, value) => {
  const headers = { "content-type": "application/json" };
  if (isPrivate) headers["cache-control"] = "no-store";
  if (name !== undefined) headers[name] = value;
  return new Response(body, { status, headers });
};

export const record = (env, key) => env.DEDUP_RECORDS.get(key);

export const putRecord = (env, key, value, ttlSeconds) =>
  env.DEDUP_RECORDS.put(key, value, { expirationTtl: ttlSeconds });

export const noteRecord = (context, env, ...record) =>
  context.waitUntil(putRecord(env, ...record).catch((error) => console.warn(`DEDUP_RECORDS could not be written: ${error}`)));

// `body` lies in the module's memory and is gone when this returns.
export const askObject = (env, binding, object, path, body) =>
  env[binding].getByName(object).fetch(`https://object${path}`, { method: "POST", body: body?.slice() });
