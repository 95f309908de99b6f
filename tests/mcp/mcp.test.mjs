// `authority mcp` as the public client of the Model Context Protocol speaks to it, beside a real authority.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import process from "node:process";
import { createInterface } from "node:readline";
import test, { after, before } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { authority } from "../openapi/authority.mjs";

const binary = process.env.AUTHORITY_BINARY;
/** The most that a tool answers, in bytes. */
const RESULT_LIMIT = 128 * 1024;
const SECRET = `whsec_${"4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M"}`;
const OTHER_SECRET = `whsec_${"9aQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M"}`;
const NAMES = ["list_records", "get_record", "trigger_event", "explain_delivery", "search_documents", "read_document"];

let service;
let session;
/** Everything that any server of these tests wrote, to be searched for secrets. */
let written = "";

before(async () => {
  service = await authority("acme", { AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS: "true", AUTHORITY_RETRY_SCHEDULE: "0,3600" });
  session = await connect(["--secret-env", "RECEIVER_SECRET"]);
});

after(async () => {
  await session?.client.close();
  await service?.end();
});

/** A client with a server of its own. */
async function connect(options = [], key = service.key) {
  const transport = new StdioClientTransport({
    command: binary,
    args: ["mcp", "--url", service.merchantApi, ...options],
    env: { PATH: process.env.PATH, AUTHORITY_API_KEY: key, RECEIVER_SECRET: SECRET, AUTHORITY_LOG: "trace,rmcp=trace" },
    stderr: "pipe",
  });
  transport.stderr.on("data", (text) => (written += text));
  const client = new Client({ name: "tests", version: "1.0.0" });
  await client.connect(transport);
  return { client, transport };
}

/** Calls a tool, and returns what it says as JSON; fails unless it failed as expected. */
async function call(name, args, { client = session.client, fails = false } = {}) {
  const result = await client.callTool({ name, arguments: args });
  written += JSON.stringify(result);
  assert.equal(result.content.length, 1);
  const [{ type, text }] = result.content;
  assert.equal(type, "text");
  assert.equal(result.isError ?? false, fails, text);
  assert.ok(Buffer.byteLength(text) <= RESULT_LIMIT);
  return name === "read_document" && !fails ? text : JSON.parse(text);
}

const refused = (name, args, options) => call(name, args, { fails: true, ...options });

test("the tools are there, with strict schemas and what they do to the world", async () => {
  const { tools } = await session.client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), NAMES);
  for (const { name, title, description, inputSchema, annotations } of tools) {
    assert.ok(title && description, name);
    assert.deepEqual([inputSchema.type, inputSchema.additionalProperties], ["object", false], name);
    for (const [member, { description: about }] of Object.entries(inputSchema.properties)) assert.ok(about, `${name}.${member}`);
    const reads = name !== "trigger_event";
    const expected = { title, readOnlyHint: reads, destructiveHint: false, idempotentHint: reads, openWorldHint: false };
    assert.deepEqual(annotations, expected, name);
  }
  const { type } = tools.find(({ name }) => name === "trigger_event").inputSchema.properties;
  assert.deepEqual(type.enum, service.eventTypes());
  assert.deepEqual(Object.keys(session.client.getServerCapabilities()).sort(), ["resources", "tools"]);
  assert.equal(session.client.getServerVersion().name, "authority");
});

test("an event is triggered and seen, and so is the record that it tells of", async () => {
  const { id, type } = await call("trigger_event", { type: "order.shipped" });
  assert.equal(type, "order.shipped");
  const event = await call("get_record", { resource: "events", id });
  assert.deepEqual([event.id, event.type], [id, type]);
  const number = event.data.object.order_number;
  const { data } = await call("list_records", { resource: "events", filters: { resource: number, type: [type, "order.created"] } });
  assert.deepEqual(data.map((found) => found.type), ["order.created", type]);
  const order = await call("get_record", { resource: "orders", id: number });
  assert.deepEqual(order, await service.merchant("GET", `/orders/${number}`));
  const parcel = await call("get_record", { resource: "events", id: (await call("trigger_event", { type: "shipment.created" })).id });
  const { order_number: of, id: shipment } = parcel.data.object;
  const shipments = await call("list_records", { resource: "shipments", of });
  assert.deepEqual(shipments.data, [await call("get_record", { resource: "shipments", id: shipment })]);
  assert.equal((await call("get_record", { resource: "integration-health" })).object, "integration_health");
});

test("lists have filters and pages, and never more than fits", async () => {
  const line_items = Array.from({ length: 100 }, (_, at) => ({ name: `${at} ${"x".repeat(200)}`, quantity: 1, unit_amount: 100 }));
  for (const _ of Array(6)) await service.sandbox("POST", "/orders", { currency: "USD", line_items });
  const numbers = [];
  let cursor;
  let pages = 0;
  do {
    const page = await call("list_records", { resource: "orders", limit: 100, ...(cursor && { cursor }) });
    numbers.push(...page.data.map(({ order_number }) => order_number));
    cursor = page.next_cursor;
    pages += 1;
  } while (cursor);
  const { data } = await service.merchant("GET", "/orders?limit=100");
  assert.ok(JSON.stringify(data).length > RESULT_LIMIT && pages > 1, `${pages} pages`);
  assert.deepEqual(numbers, data.map(({ order_number }) => order_number));
  const pending = await call("list_records", { resource: "orders", filters: { status: ["cancelled"], created_from: "2020-01-01T00:00:00Z" } });
  assert.deepEqual(pending, { data: [] });
});

test("what the API refuses has its code, its sentence and the place", async () => {
  const unknown = await refused("list_records", { resource: "orders", filters: { colour: "red" } });
  assert.deepEqual([unknown.code, unknown.status, unknown.param], ["unknown_parameter", 400, "colour"]);
  assert.ok(unknown.detail && unknown.request_id);
  const absent = await refused("get_record", { resource: "orders", id: "../payments" });
  assert.deepEqual([absent.code, absent.status], ["not_found", 404]);
  const endpoint = await refused("trigger_event", { type: "webhook.test" });
  assert.equal(endpoint.code, "no_eligible_endpoint");
  const { client } = await connect([], `svc_test_${"a".repeat(49)}`);
  assert.equal((await refused("list_records", { resource: "orders" }, { client })).code, "invalid_api_key");
  await client.close();
});

const BODY = JSON.stringify({
  id: "evt_01m83hhkw7exgbx5qk9ycpzc6e", type: "webhook.test", api_version: "2026-09-01", created_at: "2026-09-01T12:00:00.000Z",
  sequence: 1, livemode: false, merchant: { id: "mer_01m83hhkw7exgbx5qk9ycpzc6e", slug: "acme" }, links: {}, data: { object: {} },
});
const AT = 1788264000;

/** The headers of a delivery of a body, signed by the program itself. */
function delivered(body = BODY, secret = SECRET) {
  const options = { input: body, env: { S: secret }, encoding: "utf8" };
  const signature = execFileSync(binary, ["sign", "--secret-env", "S", "--timestamp", String(AT)], options).trim();
  return { "Service-Event-Id": JSON.parse(BODY).id, "Service-Timestamp": String(AT), "Service-Signature": signature };
}

test("a refusal is explained by what the receiver got", async () => {
  const headers = delivered();
  const without = (name) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
  const signature = headers["Service-Signature"];
  const cases = [
    ["ok", [], {}],
    ["ok", [], { body: undefined, body_base64: Buffer.from(BODY).toString("base64") }],
    ["invalid_signature", ["other_secret_or_bytes"], { headers: delivered(BODY, OTHER_SECRET) }],
    ["invalid_signature", ["body_newline"], { body: `${BODY}\n` }],
    ["invalid_signature", ["body_reserialized"], { body: JSON.stringify(JSON.parse(BODY), null, 2) }],
    ["invalid_signature", ["signature_uppercase"], { headers: { ...headers, "Service-Signature": `v1=${signature.slice(3).toUpperCase()}` } }],
    ["stale_timestamp", ["old_delivery", "clock_skew"], { received_at: AT + 4000 }],
    ["ok", [], { received_at: AT + 3000, tolerance: 3600 }],
    ["missing_signature", ["header_dropped"], { headers: without("Service-Signature") }],
    ["missing_signature", ["header_renamed"], { headers: { ...without("Service-Signature"), "X-Service-Signature": signature } }],
    ["invalid_timestamp", ["timestamp_unit"], { headers: { ...headers, "Service-Timestamp": `${AT}000` } }],
    ["missing_body", ["body_consumed"], { body: "", headers: { ...headers, "Content-Length": String(BODY.length) } }],
    ["event_id_mismatch", ["event_id_differs"], { headers: { ...headers, "service-event-id": "evt_2", "Service-Event-Id": undefined } }],
  ];
  for (const [code, causes, changed] of cases) {
    const answer = await call("explain_delivery", JSON.parse(JSON.stringify({ headers, body: BODY, received_at: AT, ...changed })));
    const seen = [answer.code, answer.causes.map(({ cause }) => cause)];
    assert.deepEqual(seen, [code, causes], JSON.stringify(changed));
    for (const { evidence, fix } of answer.causes) assert.ok(evidence && fix);
    assert.ok(!JSON.stringify(answer).includes(signature.slice(3)));
  }
});

test("without a secret everything but the signature is judged, and the answer says so", async () => {
  const { client } = await connect();
  const headers = delivered();
  const given = { headers, body: BODY, received_at: AT };
  const answer = await call("explain_delivery", given, { client });
  assert.deepEqual([answer.code, answer.causes.map(({ cause }) => cause)], [null, ["other_secret", "body_reserialized"]]);
  assert.match(answer.hint, /--secret-env/);
  const stale = await call("explain_delivery", { ...given, received_at: AT + 4000 }, { client });
  assert.deepEqual([stale.code, stale.causes.length], ["stale_timestamp", 2]);
  await client.close();
});

test("a refusal is explained by what the authority recorded of it", async (t) => {
  const answers = [
    [401, { code: "invalid_signature" }, ["other_secret", "body_reserialized"]],
    [401, { code: "stale_timestamp" }, ["clock_skew"]],
    [401, { code: "missing_signature" }, ["header_renamed", "header_dropped"]],
    [400, { code: "missing_body" }, ["body_consumed"]],
    [401, {}, ["other_secret", "body_reserialized"]],
    [500, {}, []],
    [200, {}, []],
  ];
  let next;
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(next[0], { "content-type": "application/json" }).end(JSON.stringify(next[1])));
  });
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  t.after(() => receiver.close().closeAllConnections());
  const { id } = await service.merchant("POST", "/webhook-endpoints", { url: `http://127.0.0.1:${receiver.address().port}/` });
  for (next of answers) {
    const event = await call("trigger_event", { type: "webhook.test" });
    const delivery = await attempted(id, event.id);
    const answer = await call("explain_delivery", { delivery_id: delivery.id });
    const expected = next[0] === 200 ? "ok" : (next[1].code ?? null);
    assert.deepEqual([answer.code, answer.causes.map(({ cause }) => cause)], [expected, next[2]], JSON.stringify(next));
    assert.deepEqual([answer.event_id, answer.attempt.response_status], [event.id, next[0]]);
  }
  assert.equal((await refused("explain_delivery", { delivery_id: "dlv_x" })).code, "not_found");
});

/** The delivery of an event, once it has been attempted. */
async function attempted(endpoint, event) {
  for (;;) {
    const { data } = await call("list_records", { resource: "deliveries", of: endpoint, filters: { event_id: event } });
    if (data[0]?.attempt_count > 0) return data[0];
  }
}

test("documents are found, read by section, and are resources", async () => {
  const { results } = await call("search_documents", { query: "why does my signature not match" });
  assert.equal(results.length, 5);
  const [{ document, title, anchor, excerpt, link }] = results;
  assert.deepEqual([document, title, anchor], ["package", "verify-wasm", "why-does-my-signature-not-match"]);
  assert.equal(link, `${service.merchantApi}/docs/package.md#${anchor}`);
  assert.ok(excerpt.length > 0 && excerpt.length < 500);
  const section = await call("read_document", { document, section: anchor });
  assert.match(section, /^## Why does my signature not match\?\n/);
  const served = await (await fetch(link)).text();
  assert.ok(served.includes(section));
  const outline = await call("read_document", { document: "contract" });
  assert.match(outline, /- 4\.3 Idempotency-Key \(#43-idempotency-key, \d+ bytes\)/);
  assert.equal((await refused("read_document", { document: "contract", section: "nowhere" })).code, "section_not_found");
  const { resources } = await session.client.listResources();
  assert.ok(resources.length >= 9);
  for (const { uri, name, size, mimeType } of resources) {
    const { contents: [content] } = await session.client.readResource({ uri });
    assert.deepEqual([content.uri, Buffer.byteLength(content.text), mimeType], [uri, size, "text/markdown"]);
    assert.equal(content.text, await (await fetch(`${service.merchantApi}/docs/${name}.md`)).text());
  }
  await assert.rejects(session.client.readResource({ uri: "authority://docs/../../etc/passwd" }), { code: -32002 });
});

test("what does not fit a schema is refused by name, and not repeated", async () => {
  const MARK = "Zq9";
  const cases = [
    ["list_records", {}, "/resource"],
    ["list_records", { resource: MARK }, "/resource"],
    ["list_records", { resource: "orders", limit: MARK }, "/limit"],
    ["list_records", { resource: "orders", limit: 101 }, "/limit"],
    ["list_records", { resource: "orders", limit: 1.5 }, "/limit"],
    ["list_records", { resource: "orders", filters: [MARK] }, "/filters"],
    ["list_records", { resource: "orders", filters: { status: { [MARK]: 1 } } }, "/filters"],
    ["list_records", { resource: "orders", of: MARK }, "/of"],
    ["list_records", { resource: "shipments" }, "/of"],
    ["list_records", { resource: "orders", [MARK]: 1 }, undefined],
    ["get_record", { resource: "orders" }, "/id"],
    ["get_record", { resource: "orders", id: [MARK] }, "/id"],
    ["trigger_event", { type: MARK }, "/type"],
    ["explain_delivery", {}, undefined],
    ["explain_delivery", { headers: { a: 1 } }, "/headers"],
    ["explain_delivery", { headers: {}, body: "", body_base64: "" }, "/body_base64"],
    ["explain_delivery", { headers: {}, body_base64: `${MARK}!` }, "/body_base64"],
    ["explain_delivery", { delivery_id: "dlv_1", body: MARK }, "/body"],
    ["search_documents", { query: MARK.repeat(350_000) }, "/query"],
    ["get_record", { resource: "orders", id: MARK.repeat(350_000) }, "/id"],
    ["read_document", { document: MARK }, "/document"],
  ];
  for (const [name, args, pointer] of cases) {
    const error = await refused(name, args);
    const at = `${name} ${JSON.stringify(args).slice(0, 80)}`;
    assert.deepEqual([error.code, error.errors?.[0].pointer], ["invalid_arguments", pointer], at);
    assert.ok(!JSON.stringify(error).includes(MARK), at);
  }
  // A megabyte where there is room for it is judged like anything else.
  const large = await call("explain_delivery", { headers: delivered(), body: "x".repeat(1_000_000), received_at: AT });
  assert.equal(large.code, "invalid_signature");
  await assert.rejects(session.client.callTool({ name: "delete_everything", arguments: {} }), { code: -32602 });
});

test("secrets in arguments are refused, and appear in no output", async () => {
  for (const secret of [SECRET, service.key, `Bearer svc_live_${"b".repeat(49)}`]) {
    for (const [name, args] of [
      ["explain_delivery", { headers: { Authorization: secret } }],
      ["explain_delivery", { headers: {}, secret }],
      ["search_documents", { query: `what is ${secret}` }],
      ["list_records", { resource: "orders", filters: { external_id: [secret] } }],
    ]) {
      const error = await refused(name, args);
      assert.equal(error.code, "secret_in_arguments", name);
      assert.match(error.detail, /rotate/);
    }
  }
});

test("the server starts with a test key only, and names no value", () => {
  const start = (key, args = []) => spawnSync(binary, ["mcp", ...args], {
    env: { PATH: process.env.PATH, ...(key && { AUTHORITY_API_KEY: key }), EMPTY: "" }, encoding: "utf8", input: "",
  });
  const live = `svc_live_${"c".repeat(49)}`;
  for (const [key, args, message] of [
    [live, [], "authority: AUTHORITY_API_KEY must hold a test key (svc_test_…)\n"],
    [`svc_op_${"c".repeat(49)}`, [], "authority: AUTHORITY_API_KEY must hold a test key (svc_test_…)\n"],
    [undefined, [], "authority: AUTHORITY_API_KEY is not set: it must hold a test key (svc_test_…)\n"],
    [service.key, ["--secret-env", SECRET], "authority: --secret-env takes the name of an environment variable, never the secret\n"],
    [service.key, ["--secret-env", "ABSENT"], "authority: --secret-env names ABSENT, which is not set\n"],
  ]) {
    const { status, stdout, stderr } = start(key, args);
    assert.deepEqual([status, stdout, stderr], [2, "", message]);
  }
  const { status, stdout, stderr } = start(service.key);
  assert.deepEqual([status, stdout, stderr], [0, "", ""], "an input that ends at once");
});

test("rubbish between messages is survived, and only the protocol is on standard output", async () => {
  const env = { PATH: process.env.PATH, AUTHORITY_API_KEY: service.key };
  const server = spawn(binary, ["mcp", "--url", service.merchantApi], { env, stdio: ["pipe", "pipe", "pipe"] });
  server.stderr.on("data", (text) => (written += text));
  const ended = new Promise((resolve) => server.once("exit", (code, signal) => resolve([code, signal])));
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const ask = async (message) => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    for (;;) {
      const { value } = await lines.next();
      const answer = JSON.parse(value);
      assert.equal(answer.jsonrpc, "2.0");
      if (answer.id === message.id) return answer;
    }
  };
  server.stdin.write("rubbish\n");
  const clientInfo = { name: "tests", version: "1" };
  const opened = await ask({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  assert.equal(opened.result.protocolVersion, "2025-06-18");
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  for (const rubbish of ["{", "[]", "\u0000\u0001", "null", '{"jsonrpc":"1.0"}', `"${"x".repeat(9 * 1024 * 1024)}"`, "\xff\xfe", ""]) {
    server.stdin.write(Buffer.from(`${rubbish}\n`, "latin1"));
  }
  const { result } = await ask({ id: 2, method: "tools/list" });
  assert.deepEqual(result.tools.map(({ name }) => name), NAMES);
  assert.equal((await ask({ id: 3, method: "no/such" })).error.code, -32601);
  assert.equal((await ask({ id: 4, method: "tools/call", params: { name: 7 } })).error !== undefined, true);
  server.stdin.end();
  assert.deepEqual(await ended, [0, null]);
});

test("a signal ends the server, also while it waits for input", async () => {
  const env = { PATH: process.env.PATH, AUTHORITY_API_KEY: service.key };
  for (const signal of ["SIGTERM", "SIGINT"]) {
    const server = spawn(binary, ["mcp", "--url", service.merchantApi], { env, stdio: ["pipe", "pipe", "inherit"] });
    const ended = new Promise((resolve) => server.once("exit", (...how) => resolve(how)));
    const clientInfo = { name: "tests", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    await new Promise((resolve) => createInterface({ input: server.stdout }).once("line", resolve));
    server.kill(signal);
    assert.deepEqual(await ended, [0, null], signal);
  }
});

test("no key and no secret is in anything that was written", () => {
  assert.ok(written.length > 10_000);
  for (const secret of [SECRET, OTHER_SECRET, service.key, "b".repeat(49)]) {
    const shown = secret.replace(/^(whsec_|svc_test_)/, "");
    assert.ok(!written.includes(shown), "a secret was written");
  }
});
