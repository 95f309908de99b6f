// A merchant's consumer, to be killed: catches up with claims and effects in SQLite files, and says when it had an effect.
// Arguments: origin, folder. The key comes as AUTHORITY_API_KEY.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import Database from "libsql";
import { Client } from "../../pkg/dist/esm/client/index.js";
import { createSqliteStore } from "../../pkg/dist/esm/stores/sqlite.js";

const [baseUrl, folder] = process.argv.slice(2);
const cursorFile = join(folder, "cursor");
const effects = new Database(join(folder, "effects.db"));
effects.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS effects (event_id TEXT NOT NULL)");
const known = effects.prepare("SELECT count(*) AS times FROM effects WHERE event_id = ?");
const happen = effects.prepare("INSERT INTO effects (event_id) VALUES (?)");

await new Client({ apiKey: process.env.AUTHORITY_API_KEY, baseUrl }).events.catchUp({
  from: existsSync(cursorFile) ? readFileSync(cursorFile, "utf8") : undefined,
  store: createSqliteStore(new Database(join(folder, "claims.db"))),
  limit: 10,
  leaseSeconds: 0.3,
  process: (event, { attempt }) => {
    // Whoever tries again does not know whether the one before has come so far.
    if (attempt === 1 || known.get(event.id).times === 0) happen.run(event.id);
    process.stdout.write(`${event.id}\n`);
  },
  save: (cursor) => {
    writeFileSync(`${cursorFile}.new`, cursor);
    renameSync(`${cursorFile}.new`, cursorFile);
  },
});
