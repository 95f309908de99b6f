// What others say of the tarball: publint of the manifest, "are the types wrong?" of the types.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import process from "node:process";
import test from "node:test";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { leaves, manifest, specifier } from "./exports-map.mjs";
import { consumers, run, tarball } from "./running.mjs";

test("publint finds nothing", async () => {
  const { buffer, byteOffset, byteLength } = readFileSync(tarball);
  const { messages } = await publint({
    pack: { tarball: buffer.slice(byteOffset, byteOffset + byteLength) },
    strict: true,
  });
  // A URL of the source is filled in by a release. The map of entry points has the condition "browser"; the field is for
  // tools that know no conditions.
  const known = ["SUGGEST_REPOSITORY_URL", "USE_EXPORTS_BROWSER"];
  const found = messages.filter(({ code }) => !known.includes(code));
  assert.deepEqual(found.map((message) => formatMessage(message, manifest)), []);
});

test("the types are not wrong", async () => {
  const program = `${consumers}node_modules/@arethetypeswrong/cli/dist/index.js`;
  // What is no module has no types. Resolution as before Node 12 finds subpaths by `typesVersions`.
  const others = leaves.filter(({ file }) => !/\.(js|d\.ts)$/.test(file)).map(({ subpath }) => specifier(subpath));
  const words = ["--profile", "node16", "--format", "json", "--exclude-entrypoints", ...others];
  const { analysis } = JSON.parse(await run(process.execPath, [program, tarball, ...words]));
  assert.ok(analysis.types, "no types were found");
  assert.deepEqual(analysis.problems, []);
});
