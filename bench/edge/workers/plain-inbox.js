// The same with a claim of the event: KV is asked first, a Durable Object decides and keeps the body, KV is told
// behind the answer. By hand, in JavaScript, with what the edge receiver keeps and in the same places.

import { DurableObject } from "cloudflare:workers";
import { verified } from "./plain.js";

export default {
  async fetch(request, env, context) {
    const event = await verified(request, env);
    const key = `evt:${event.id}`;
    if ((await env.DEDUP_RECORDS.get(key)) !== null) return Response.json({ code: "duplicate" });
    const shard = event.id.charCodeAt(event.id.length - 1) % 16;
    const isFirst = await env.INBOX.getByName(`inbox-${shard}`).claim(event.id, event.type, JSON.stringify(event));
    if (isFirst) context.waitUntil(env.DEDUP_RECORDS.put(key, String(Date.now()), { expirationTtl: 90 * 24 * 3600 }));
    return Response.json({ code: isFirst ? "ok" : "duplicate" });
  },
};

export class EventInbox extends DurableObject {
  constructor(context, env) {
    super(context, env);
    context.storage.sql.exec("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, type TEXT NOT NULL, received_at INTEGER NOT NULL, body TEXT NOT NULL)");
  }

  claim(id, type, body) {
    const insert = "INSERT INTO events (id, type, received_at, body) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING id";
    return this.ctx.storage.sql.exec(insert, id, type, Date.now(), body).toArray().length === 1;
  }
}
