// A whole receiver, Request to claim, in every runtime that has a SQLite of its own.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { apps, elsewhere, run, runtime } from "./running.mjs";

const WORDS = {
  node22: [],
  node24: [],
  bun: ["run"],
  deno: ["run", "--cached-only", "--allow-read", "--allow-write", "--allow-env"],
};

for (const [name, words] of Object.entries(WORDS)) {
  test(`${name} receives once`, { skip: elsewhere }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "receiver-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const printed = await run(runtime(name), [...words, `${apps}/node/receiver.mjs`, join(folder, "claims.db")]);
    assert.deepEqual(JSON.parse(printed), {
      answers: ["200 ok", "200 duplicate", "200 ok"],
      retried: [
        { processed: 1, failed: 0, running: 0 },
        { processed: 0, failed: 0, running: 0 },
      ],
    });
  });
}
