// The examples in the client's declarations, which editors show, compiled as a program of a strict project has them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const declarations = join(here, "node_modules/verify-wasm/dist/esm/client");

/** What stands around an example. */
const BEFORE = `
import type { ClaimStore } from "verify-wasm";
import { Client, RateLimitedError } from "verify-wasm/client";
declare const store: ClaimStore;
declare const saved: { cursor: string | undefined };
`;

function examples() {
  const files = readdirSync(declarations).filter((name) => name.endsWith(".d.ts"));
  return files.flatMap((name) => {
    const text = readFileSync(join(declarations, name), "utf8");
    return [...text.matchAll(/@example\n\s*\* ```ts\n([^]*?)\n\s*\* ```/g)].map(([, code]) => code.replace(/^\s*\* ?/gm, ""));
  });
}

test("every operation has an example, and every example compiles", (t) => {
  const all = examples();
  for (const name of operations()) {
    assert.ok(all.some((code) => code.includes(`client.${name}(`)), `${name} has no example`);
  }
  const folder = mkdtempSync(join(here, "examples-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const functions = all.map((code, index) => {
    const given = code.includes("const client =") ? "" : "client: Client";
    return `export async function example${index}(${given}) {\n${code}\n}\n`;
  });
  writeFileSync(join(folder, "examples.ts"), BEFORE + functions.join("\n"));
  const compilerOptions = {
    target: "ES2022", lib: ["ES2022"], types: ["node"], module: "nodenext", strict: true, noEmit: true,
    exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["examples.ts"] }));
  execFileSync(join(here, "../node_modules/.bin/tsc"), ["--project", folder], { stdio: "inherit" });
});

/** The operations that the package has; the table is no export. */
function operations() {
  const text = readFileSync(join(here, "node_modules/verify-wasm/src/client/operation-table.ts"), "utf8");
  const names = [...text.matchAll(/^ {2}"([\w.]+)": /gm)].map(([, name]) => name);
  assert.ok(names.length > 50);
  return names;
}
