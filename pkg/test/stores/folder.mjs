// A folder for one test, gone with it. In memory where the machine has that: what a disk does with a flush is not what
// these tests are about.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes it. */
export function folder(t) {
  const path = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "claims-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
