// The tools of these tests: a block that fails, ends too early or is passed over is told.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { Document } from "./document.mjs";
import { Terminal } from "./terminal.mjs";

function folder(t) {
  const made = mkdtempSync(join(tmpdir(), "start-tools-"));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

function terminal(t) {
  const files = folder(t);
  const opened = new Terminal("tried", { cwd: files, env: process.env, files });
  t.after(() => opened.close());
  return opened;
}

test("what a block exports, and where it goes, holds for the next", async (t) => {
  const shell = terminal(t);
  await shell.run("export WORD=kept\nmkdir inner && cd inner\n");
  assert.equal(await shell.run('echo "$WORD"\nbasename "$PWD"\n'), "kept\ninner\n");
});

test("a command that fails in the middle of a block is told", async (t) => {
  await assert.rejects(terminal(t).run("false\necho goes on\n"), /failed 1 false/);
});

test("what should go on and ends is told, and so is a shell that ends", async (t) => {
  const shell = terminal(t);
  await assert.rejects(shell.until(/^ready$/m, shell.begin("echo almost\n")), /ended before it showed [^]*almost/);
  await assert.rejects(terminal(t).run("exit 3\n"), /the shell has ended/);
});

test("Ctrl-C ends what runs, and the terminal goes on", async (t) => {
  const shell = terminal(t);
  await shell.until(/^ready$/m, shell.begin("echo ready\ntail -f /dev/null\n"));
  assert.equal(await shell.interrupt(), 130);
  assert.equal(await shell.run("echo here\n"), "here\n");
});

test("blocks are taken in order, each of them", (t) => {
  const file = join(folder(t), "document.md");
  const lines = ["Run:", "```sh", "true", "```", "```", "a drawing", "```", "`a.js`:", "```js", "1;", "```", "```text", "A (… ms)", "B", "```"];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const document = new Document(pathToFileURL(file), (text) => text.replace("1", "2"));
  assert.throws(() => document.isDone(), /does not run/);
  assert.equal(document.commands(), "true\n");
  assert.throws(() => new Document(pathToFileURL(file), String).program("a.js"), /another block/);
  assert.equal(document.program("a.js"), "2;\n");
  const shown = document.shown();
  assert.match("x\nA (5 ms)\nbetween\nB\n", shown);
  for (const other of ["A (5 ms)\n", "B\nA (5 ms)\n", "A (5 s)\nB\n", "A (5 ms)\nnot B\n"]) assert.doesNotMatch(other, shown);
  document.isDone();
});
