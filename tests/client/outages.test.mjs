// Who follows a feed goes on after an outage, however long it was, once a page was answered; who reads it once is told.

import assert from "node:assert/strict";
import test from "node:test";
import {
  Client,
  ConnectionError,
  InvalidApiKeyError,
  ProcessingError,
  UnexpectedAnswerError,
} from "../../pkg/dist/esm/client/index.js";
import { createMemoryStore } from "../../pkg/dist/esm/stores/memory.js";
import { KEY, answer, problem, scripted } from "./scripted.mjs";

const away = problem(503, "service_unavailable");
const busy = problem(429, "rate_limited", { "retry-after": "0" });
const cutOff = (response) => response.destroy();
const refused = problem(401, "invalid_api_key");
const html = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Hello");
const none = answer({ object: "list", data: [] });

/** An event of the list, and a page with it. */
const event = (id) => ({
  id, type: "order.created", api_version: "2026-09-01", created_at: "2026-09-01T12:00:00.000Z",
  merchant: { id: "mer_1", slug: "a" }, data: { object: {} },
});
const page = (id, cursor) => answer({ object: "list", data: [event(id)], resume_cursor: cursor });

/** A client that tries once, of a server with these answers, and how it follows until `end` is called. */
async function following(t, answers, onResponse) {
  const { seen, baseUrl } = await scripted(t, answers);
  const controller = new AbortController();
  const end = () => controller.abort();
  const watch = onResponse && ((tried) => onResponse(tried, end));
  const client = new Client({ apiKey: KEY, baseUrl, maxRetries: 0, onResponse: watch });
  return { seen, end, client, options: { follow: true, pollMs: 10, signal: controller.signal } };
}

const never = () => assert.fail("nothing is done");

test("following the events outlasts an outage", async (t) => {
  const answers = [page("evt_1", "c1"), away, busy, cutOff, away, page("evt_2", "c2")];
  const { seen, end, options, client } = await following(t, answers);
  const story = [];
  const kept = await client.events.catchUp({
    ...options,
    store: createMemoryStore(),
    process: ({ id }) => story.push(id),
    save: (cursor) => {
      story.push(cursor);
      if (cursor === "c2") end();
    },
  });
  assert.equal(kept, "c2");
  assert.deepEqual(story, ["evt_1", "c1", "evt_2", "c2"]);
  const asked = seen.map(({ url }) => new URL(url, "http://api/").searchParams.get("cursor"));
  assert.deepEqual(asked, [null, ...Array(5).fill("c1")]);
});

test("the feed of orders outlasts one too, also where its checkpoint is moved", async (t) => {
  const change = { order_number: "ORD-1", order: { order_number: "ORD-1" } };
  const changes = answer({ object: "list", data: [change], resume_cursor: "c1" });
  const answers = [none, none, away, changes, away, cutOff, answer({ object: "checkpoint" }), none];
  const { seen, options, client } = await following(t, answers, ({ operation, status }, end) => {
    if (operation === "checkpoints.acknowledge" && status === 200) end();
  });
  const story = [];
  const process = ({ order_number }) => story.push(order_number);
  assert.equal(await client.sync.orders.catchUp({ ...options, checkpoint: "warehouse", process }), "c1");
  assert.deepEqual(story, ["ORD-1"], "what was done is not done again for the checkpoint's sake");
  assert.deepEqual(seen.map(({ method }) => method), ["GET", "GET", "GET", "GET", "POST", "POST", "POST"]);
});

test("a start that fails is told also to who follows, since a wrong address would never pass", async (t) => {
  for (const [failure, expected] of [
    [cutOff, ConnectionError],
    [html, UnexpectedAnswerError],
    [away, /^ServiceUnavailableError/],
  ]) {
    const { seen, options, client } = await following(t, [failure]);
    const given = { ...options, store: createMemoryStore(), process: never, save: never };
    await assert.rejects(client.events.catchUp(given), expected);
    assert.equal(seen.length, 1);
    for (const answers of [[failure], [none, failure]]) {
      const { seen, options, client } = await following(t, answers);
      await assert.rejects(client.sync.orders.catchUp({ ...options, checkpoint: "a", process: never }), expected);
      assert.equal(seen.length, answers.length);
    }
  }
});

test("what does not pass by itself ends the reading, and who reads once is told at once", async (t) => {
  for (const [answers, more, expected, tries] of [
    [[none, away, refused], {}, InvalidApiKeyError, 3],
    [[away], { follow: false }, /^ServiceUnavailableError/, 1],
    [[page("evt_1", "c1")], { process: () => Promise.reject(new Error("closed")) }, ProcessingError, 1],
  ]) {
    const { seen, options, client } = await following(t, answers);
    const given = { ...options, store: createMemoryStore(), process: never, save: never, ...more };
    await assert.rejects(client.events.catchUp(given), expected);
    assert.equal(seen.length, tries);
  }
});

test("who waits for the end of an outage can be told to end", async (t) => {
  const more = answer({ object: "list", data: [], next_cursor: "c1" });
  const { seen, options, client } = await following(t, [more, away], ({ status }, end) => {
    if (status === 503) setImmediate(end);
  });
  const given = { ...options, pollMs: 3_600_000, store: createMemoryStore(), process: never, save: () => {} };
  assert.equal(await client.events.catchUp(given), "c1");
  assert.equal(seen.length, 2);
});
