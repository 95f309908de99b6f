// The SQLite of Node itself. Run by a Node that has it: see sqlite.test.mjs.

import { join } from "node:path";
import { agreesWithMemory } from "./agreement.mjs";
import { conformance, largePurge } from "./conformance.mjs";
import { folder } from "./folder.mjs";
import { open } from "./places.mjs";
import { betweenProcesses } from "./processes.mjs";

const place = (t) => {
  const address = join(folder(t), "claims.db");
  return { address, another: () => open["node-sqlite"](address).store };
};
conformance("node:sqlite", (t) => place(t).another);
largePurge("node:sqlite", (t) => place(t).another);
agreesWithMemory("node:sqlite", (t) => place(t).another);
betweenProcesses("node:sqlite", "node-sqlite", place);
