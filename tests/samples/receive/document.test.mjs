// `docs/receive.md` prints every sample, once, as it is in its file.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { document, folder, withSamples } from "./document.mjs";

test("the document's blocks are the files", () => {
  const text = readFileSync(document, "utf8");
  const { whole, names } = withSamples(text);
  assert.deepEqual(names.toSorted(), readdirSync(folder).toSorted());
  assert.equal(text, whole, "write it with `node tests/samples/receive/document.mjs`");
});
