// The client against a real authority: operations, errors, conflicts, what is shown and what is refused.

import assert from "node:assert/strict";
import process from "node:process";
import test, { after, before } from "node:test";
import { inspect } from "node:util";
import { authority } from "../openapi/authority.mjs";
import * as exported from "../../pkg/dist/esm/client/index.js";
import { createMemoryStore } from "../../pkg/dist/esm/stores/memory.js";
import { KEY, good, problem, scripted } from "./scripted.mjs";

const {
  ApiError,
  Client,
  ConnectionError,
  InsufficientScopeError,
  NotFoundError,
  RefundAmountExceededError,
  ResourceVersionConflictError,
  UnexpectedAnswerError,
  ValidationFailedError,
} = exported;
const line_items = [{ name: "T-shirt", quantity: 2, unit_amount: 2400 }];

let service;
let client;

before(async () => {
  service = await authority();
  client = new Client({ apiKey: service.key, baseUrl: service.merchantApi });
});

after(() => service?.end());

const paidOrder = () => client.sandbox.orders.ingest({ currency: "USD", line_items, pay: "paid" });

test("an order from its payment to its refund", async () => {
  const order = await paidOrder();
  const shipment = await client.shipments.create(order.order_number, {
    carrier: "ups",
    tracking_number: "1Z999AA10123456784",
    line_items: [{ line_item_id: order.line_items[0].id, quantity: 2 }],
  });
  assert.equal(shipment.order_number, order.order_number);
  const refund = await client.refunds.request(order.order_number, { amount: 1500, reason: "damaged" });
  assert.deepEqual([refund.status, refund.amount], ["requested", 1500]);
  const { refund: completed } = await client.sandbox.refunds.advance(refund.id, { to: "completed" });
  assert.equal(completed.status, "completed");
  const types = [];
  for await (const event of client.events.list({ resource: order.order_number })) types.push(event.type);
  assert.deepEqual(types.slice(0, 3), ["order.created", "order.confirmed", "order.shipped"]);
});

test("one key is one refund, whoever chose it", async () => {
  const order = await paidOrder();
  const options = { idempotencyKey: `refund:${order.order_number}:return-9` };
  const replays = [];
  const watched = new Client({
    apiKey: service.key,
    baseUrl: service.merchantApi,
    onResponse: ({ replayed, idempotencyKey, attempt, status }) => replays.push([replayed, idempotencyKey, attempt, status]),
  });
  const first = await watched.refunds.request(order.order_number, { amount: 100, reason: "other" }, options);
  const again = await watched.refunds.request(order.order_number, { amount: 100, reason: "other" }, options);
  assert.equal(again.id, first.id);
  assert.deepEqual(replays, [[false, options.idempotencyKey, 1, 201], [true, options.idempotencyKey, 1, 201]]);
  await assert.rejects(
    watched.refunds.request(order.order_number, { amount: 200, reason: "other" }, options),
    (error) => error instanceof exported.IdempotencyKeyReusedError && !error.retryable,
  );
});

test("every operation has its place, and lists have their pages", async () => {
  const order = await paidOrder();
  await paidOrder();
  const page = await client.orders.list({ limit: 1, status: ["confirmed", "completed"], created_from: new Date(0) }).first();
  assert.equal(page.data.length, 1);
  assert.equal(typeof page.next_cursor, "string");
  const numbers = [];
  for await (const { order_number } of client.orders.list({ limit: 1 })) numbers.push(order_number);
  assert.equal(new Set(numbers).size, numbers.length);
  assert.ok(numbers.includes(order.order_number));
  assert.equal((await client.integrationHealth.get()).object, "integration_health");
  assert.equal((await client.payments.get(order.payment_ids[0])).order_number, order.order_number);
});

test("a change that others were quicker with is made again for what is there now", async () => {
  const { order_number } = await paidOrder();
  const versions = [];
  const changed = await client.orders.change(order_number, async (order, options) => {
    versions.push(order.resource_version);
    if (versions.length === 1) await client.externalReferences.set(order_number, "erp", { id: "E-1" });
    return client.orders.fulfillment(order_number, { note: "Shelf 4" }, options);
  });
  assert.equal(versions.length, 2);
  assert.ok(versions[1] > versions[0]);
  assert.equal(changed.fulfillment_note, "Shelf 4");
  await assert.rejects(
    client.orders.fulfillment(order_number, { note: "Shelf 5" }, { ifMatch: 1 }),
    (error) => error instanceof ResourceVersionConflictError && error.status === 409 && !error.retryable,
  );
});

test("a refusal says what, where and whom to ask", async () => {
  await assert.rejects(client.orders.get("ORD-0"), (error) => {
    assert.ok(error instanceof NotFoundError && error instanceof ApiError && error instanceof Error);
    assert.equal(error.name, "NotFoundError");
    assert.deepEqual([error.status, error.code, error.operation, error.retryable], [404, "not_found", "orders.get", false]);
    assert.match(error.requestId, /^req_/);
    assert.match(error.message, /^orders\.get: 404 not_found\. .+ \(req_/);
    assert.equal(error.docUrl, `${service.merchantApi}/docs#/orders/ordersGet`);
    return true;
  });
  const { order_number } = await paidOrder();
  await assert.rejects(client.refunds.request(order_number, { amount: 1, reason: "late" }), (error) => {
    assert.ok(error instanceof ValidationFailedError);
    assert.equal(error.pointer, "/reason");
    assert.match(error.message, /\/reason: /);
    return true;
  });
  await assert.rejects(client.refunds.request(order_number, { amount: 999_999 }), RefundAmountExceededError);
  const { key } = await service.operator("POST", `/merchants/${service.merchantId}/api-keys`, {
    name: "reader", mode: "test", scopes: ["orders:read"],
  });
  const reader = new Client({ apiKey: key, baseUrl: service.merchantApi });
  await assert.rejects(reader.refunds.list().first(), InsufficientScopeError);
});

test("what a program forgot to set is refused before it asks for everything", async () => {
  const fetch = () => assert.fail("nothing is sent");
  const unasked = new Client({ apiKey: KEY, baseUrl: service.merchantApi, fetch, maxRetries: 0 });
  await assert.rejects(async () => client.refunds.request("ORD-1", { amount: undefined }), /^TypeError: \/amount is undefined/);
  await assert.rejects(async () => client.refunds.request("ORD-1", { amount: Number.NaN }), /^TypeError: \/amount is NaN/);
  await assert.rejects(async () => client.refunds.request("ORD-1", []), /^TypeError: body must be an object/);
  for (const order of ["", "..", undefined, 7]) {
    await assert.rejects(async () => client.orders.get(order), /^TypeError: order must be a text/);
  }
  assert.throws(() => client.orders.list({ customer_reference: undefined }), /^TypeError: customer_reference is undefined/);
  assert.throws(() => client.orders.list({ status: [] }), /^TypeError: status must have at least one value/);
  await client.orders.list({ cursor: undefined, limit: 1 }).first();
  await assert.rejects(async () => client.refunds.request("ORD-1", {}, { idempotencyKey: "a b" }), /^TypeError: idempotencyKey/);
  await assert.rejects(async () => client.refunds.request("ORD-1", {}, { ifMatch: 1.5 }), /^TypeError: ifMatch/);
  await assert.rejects(async () => client.refunds.request("ORD-1", {}, { idempotency_key: "a" }), /^TypeError: unknown option/);
  await assert.rejects(async () => client.orderShares.revoke("osh_1", { ifMatch: 1 }), /^TypeError: unknown option ifMatch/);
  await assert.rejects(async () => client.orders.get("ORD-1", { idempotencyKey: "a" }), /^TypeError: unknown option/);
  await assert.rejects(async () => client.events.catchUp({ proces: () => {} }), /^TypeError: unknown option proces/);
  for (const [body, options, message] of [
    [{}, { idempotencyKey: null }, /^TypeError: idempotencyKey/],
    [{}, { idempotencyKey: 7 }, /^TypeError: idempotencyKey/],
    [{ metadata: new Map([["a", "b"]]) }, {}, /^TypeError: \/metadata is \[object Map\]: give it a plain object/],
    [{ metadata: { tags: new Set(["a"]) } }, {}, /^TypeError: \/metadata\/tags is \[object Set\]/],
    [new Map([["amount", 100]]), {}, /^TypeError: body is \[object Map\]/],
  ]) {
    await assert.rejects(async () => unasked.refunds.request("ORD-1", body, options), message);
  }
  const says = (value) => ({ metadata: { value: { [Symbol.toStringTag]: "Own", toJSON: () => value } } });
  for (const value of [undefined, Number.NaN, new Set(["a"])]) {
    await assert.rejects(async () => unasked.refunds.request("ORD-1", says(value)), /^TypeError: \/metadata\/value is /);
  }
  await assert.rejects(async () => unasked.refunds.request("ORD-1", new URL("https://a.test")), /^TypeError: body must be/);
  assert.throws(() => unasked.orders.list(new Map([["status", "confirmed"]])), /^TypeError: filter is \[object Map\]/);
  for (const amount of [new Date(Number.NaN), () => 1, Symbol("a")]) {
    await assert.rejects(async () => client.refunds.request("ORD-1", { amount }), /^TypeError: \/amount is /);
  }
});

test("a value is sent as what its toJSON says", async () => {
  const sent = [];
  const fetch = async (_, { body }) => {
    sent.push(body);
    throw new Error("closed");
  };
  const offline = new Client({ apiKey: KEY, baseUrl: service.merchantApi, fetch, maxRetries: 0 });
  const price = { [Symbol.toStringTag]: "Decimal", toJSON: () => "9.50" };
  for (const body of [{ metadata: { page: new URL("https://a.test/b"), price } }, { toJSON: () => ({ amount: 1 }) }]) {
    await assert.rejects(offline.refunds.request("ORD-1", body), ConnectionError);
  }
  assert.deepEqual(sent, ['{"metadata":{"page":"https://a.test/b","price":"9.50"}}', '{"amount":1}']);
});

test("the key is shown nowhere", async () => {
  const shown = [inspect(client, { depth: 9, showHidden: true }), JSON.stringify(client), String(client)];
  const closed = new Client({ apiKey: service.key, baseUrl: "http://127.0.0.1:9", maxRetries: 0 });
  await closed.orders.get("ORD-1").catch((error) => shown.push(inspect(error, { depth: 9 }), JSON.stringify(error)));
  await client.orders.get("ORD-0").catch((error) => shown.push(inspect(error, { depth: 9 }), JSON.stringify(error)));
  for (const text of shown) assert.ok(!text.includes(service.key.slice(0, 20)), text);
  assert.equal(shown.length, 7);
  assert.match(shown[0], new RegExp(`apiKey: '${service.key.slice(0, 13)}…'`));
});

test("mistakes in the settings are named without repeating them", () => {
  const made = (options) => () => new Client({ apiKey: KEY, baseUrl: "https://commerce.test", ...options });
  for (const [options, message] of [
    [{ apiKey: undefined }, /apiKey must be the merchant's key/],
    [{ apiKey: `svc_op_${"a".repeat(49)}` }, /operator's key/],
    [{ apiKey: "svc_test_secret\n" }, /^TypeError: apiKey is not a merchant's key: svc_live_ or svc_test_ and 49 letters and digits$/],
    [{ baseUrl: "commerce" }, /baseUrl must be the authority's origin/],
    [{ baseUrl: "https://commerce.test/v1" }, /origin alone/],
    [{ baseUrl: "http://commerce.test" }, /must be https/],
    [{ maxRetries: -1 }, /maxRetries must be from 0 to 20/],
    [{ timeoutMs: "5" }, /timeoutMs must be a whole number/],
    [{ onRequest: 1 }, /onRequest must be a function/],
    [{ timeout: 5 }, /unknown option timeout/],
  ]) {
    assert.throws(made(options), (error) => message.test(String(error)), `${JSON.stringify(options)} ${message}`);
  }
  made({ baseUrl: "http://commerce.test", allowHttp: true })();
  made({ baseUrl: "http://localhost:8080" })();
  globalThis.window = globalThis.document = {};
  try {
    assert.throws(made({}), /^TypeError: this client is for servers/);
  } finally {
    delete globalThis.window;
    delete globalThis.document;
  }
});

test("what may pass is tried again, what may not is not", async (t) => {
  for (const [status, code, again] of [
    [408, "request_timeout", true],
    [409, "idempotency_key_in_use", true],
    [429, "rate_limited", true],
    [500, "internal_error", true],
    [503, "service_unavailable", true],
    [400, "invalid_json", false],
    [401, "invalid_api_key", false],
    [409, "resource_version_conflict", false],
    [422, "validation_failed", false],
    [501, "not_implemented", false],
    [400, "constructor", false],
  ]) {
    const { seen, baseUrl } = await scripted(t, [problem(status, code), good]);
    const one = new Client({ apiKey: KEY, baseUrl });
    const asked = one.orderShares.revoke("osh_1");
    if (again) await asked;
    else await assert.rejects(asked, (error) => error.code === code && !error.retryable);
    assert.equal(seen.length, again ? 2 : 1, code);
    assert.equal(new Set(seen.map(({ headers }) => headers["idempotency-key"])).size, 1);
    assert.match(seen[0].headers["idempotency-key"], /^[0-9a-f-]{36}$/);
  }
});

test("Retry-After is waited for, and not beyond the deadline", async (t) => {
  const waits = [];
  const onResponse = ({ retryInMs }) => waits.push(retryInMs);
  const patient = await scripted(t, [problem(429, "rate_limited", { "retry-after": "1" }), good]);
  await new Client({ apiKey: KEY, baseUrl: patient.baseUrl, onResponse }).orders.list().first();
  assert.ok(waits[0] >= 1000 && waits[0] < 1251, String(waits[0]));
  assert.equal(waits[1], null);
  const long = await scripted(t, [problem(429, "rate_limited", { "retry-after": "3600" })]);
  await assert.rejects(
    new Client({ apiKey: KEY, baseUrl: long.baseUrl }).orders.list().first(),
    (error) => error.retryAfterMs === 3_600_000 && error.retryable,
  );
  assert.equal(long.seen.length, 1);
});

test("an answer that is not the service's is none", async (t) => {
  const page = (status, headers = {}) => (response) => response.writeHead(status, headers).end("<h1>Hello</h1>");
  const proxied = await scripted(t, [page(200), page(502), good]);
  await new Client({ apiKey: KEY, baseUrl: proxied.baseUrl }).orders.list().first();
  assert.equal(proxied.seen.length, 3);
  const list = await scripted(t, [(response) => response.end("[]")]);
  await assert.rejects(new Client({ apiKey: KEY, baseUrl: list.baseUrl, maxRetries: 0 }).orders.get("ORD-1"), UnexpectedAnswerError);
  const odd = JSON.stringify({ code: "validation_failed", errors: [null, 5, { pointer: "/a" }] });
  const lookalike = await scripted(t, [(response) => response.writeHead(422).end(odd)]);
  await assert.rejects(
    new Client({ apiKey: KEY, baseUrl: lookalike.baseUrl }).orders.get("ORD-1"),
    (error) => error instanceof ApiError && error.status === 422 && error.errors.length === 0,
  );
  const moved = await scripted(t, [page(302, { location: "http://127.0.0.1:9/" })]);
  await assert.rejects(
    new Client({ apiKey: KEY, baseUrl: moved.baseUrl }).orders.list().first(),
    (error) => error instanceof UnexpectedAnswerError && error.status === 302 && !error.retryable,
  );
  assert.equal(moved.seen.length, 1, "a redirect is not followed");
});

test("a try and a call have their time, and end when they are told to", async (t) => {
  const silent = await scripted(t, [() => {}]);
  const slow = new Client({ apiKey: KEY, baseUrl: silent.baseUrl, timeoutMs: 50, maxRetries: 1 });
  await assert.rejects(slow.orders.get("ORD-1"), (error) => {
    assert.ok(error instanceof ConnectionError && error.retryable);
    assert.equal(error.message, "orders.get: no answer within 50 ms");
    return true;
  });
  assert.equal(silent.seen.length, 2);
  const reason = new Error("enough");
  const end = new AbortController();
  const asked = new Client({ apiKey: KEY, baseUrl: silent.baseUrl }).orders.get("ORD-1", { signal: end.signal });
  end.abort(reason);
  await assert.rejects(asked, (error) => error === reason);
  await assert.rejects(slow.orders.get("ORD-1", { signal: end.signal }), (error) => error === reason);
  const late = new AbortController();
  const onRequest = () => late.abort(reason);
  const looking = new Client({ apiKey: KEY, baseUrl: silent.baseUrl, onRequest });
  const tries = silent.seen.length;
  await assert.rejects(looking.orders.get("ORD-1", { signal: late.signal }), (error) => error === reason);
  assert.equal(silent.seen.length, tries, "nothing was sent");
  const failing = await scripted(t, [problem(503, "service_unavailable")]);
  const hurried = new Client({ apiKey: KEY, baseUrl: failing.baseUrl, deadlineMs: 1 });
  await assert.rejects(hurried.orders.get("ORD-1"), (error) => error.retryable);
});

test("who looks on sees every try and changes nothing", async (t) => {
  const { seen, baseUrl } = await scripted(t, [problem(503, "service_unavailable"), good]);
  const story = [];
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const watched = new Client({
    apiKey: KEY,
    baseUrl,
    traceparent: () => traceparent,
    onRequest: ({ operation, method, path, attempt }) => {
      story.push(`${attempt} ${operation} ${method} ${path}`);
      throw new Error("of the onlooker");
    },
    onResponse: ({ attempt, status, error, retryInMs, durationMs }) => {
      assert.ok(durationMs > 0);
      story.push(`${attempt} ${status} ${error?.name ?? "ok"} ${retryInMs === null ? "end" : "again"}`);
      throw new Error("of the onlooker");
    },
  });
  await watched.orders.list({ status: "confirmed" }).first();
  assert.deepEqual(story, [
    "1 orders.list GET /v1/merchant/orders?status=confirmed",
    "1 503 ServiceUnavailableError again",
    "2 orders.list GET /v1/merchant/orders?status=confirmed",
    "2 200 ok end",
  ]);
  assert.deepEqual(seen.map(({ headers }) => headers.traceparent), [traceparent, traceparent]);
  assert.deepEqual(seen.map(({ headers }) => headers["idempotency-key"]), [undefined, undefined]);
});

test("an onlooker that fails later changes nothing either, and does not end the process", async (t) => {
  const { baseUrl } = await scripted(t, [problem(503, "service_unavailable"), good]);
  const unhandled = [];
  const note = (reason) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  t.after(() => process.off("unhandledRejection", note));
  let told = 0;
  const fails = async () => {
    told += 1;
    throw new Error("of the onlooker");
  };
  await new Client({ apiKey: KEY, baseUrl, onRequest: fails, onResponse: fails }).orders.list().first();
  await new Promise(setImmediate);
  assert.deepEqual([told, unhandled], [4, []]);
});

test("an empty next_cursor is the last page's, as none is", async (t) => {
  for (const last of ["", null]) {
    const answers = ["c9", last].map((next_cursor) => (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: [], next_cursor })),
    );
    const reader = async () => {
      const { seen, baseUrl } = await scripted(t, answers);
      return { seen, events: new Client({ apiKey: service.key, baseUrl }).events };
    };
    const catching = await reader();
    const saved = [];
    const options = { store: createMemoryStore(), process: () => {}, save: (cursor) => saved.push(cursor) };
    assert.equal(await catching.events.catchUp(options), "c9");
    assert.deepEqual([saved, catching.seen.length], [["c9"], 2]);
    const listing = await reader();
    const pages = [];
    for await (const page of listing.events.list().pages()) pages.push(page.next_cursor);
    assert.deepEqual([pages, listing.seen.length], [["c9", last], 2]);
  }
});
