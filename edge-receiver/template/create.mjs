#!/usr/bin/env node
// `npm create edge-receiver FOLDER`: puts the built Worker and its settings into a new folder.
//
// What npm would leave out of a package or read as its own (`.gitignore`, `.dev.vars.example`) lies in `files` without
// its dot. Nothing is installed, and no folder that has anything in it is written to.

import { cpSync, existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const HIDDEN = ["gitignore", "dev.vars.example"];

function create(folder) {
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  mkdirSync(folder, { recursive: true });
  cpSync(fileURLToPath(new URL("files", import.meta.url)), folder, { recursive: true });
  for (const name of HIDDEN) renameSync(join(folder, name), join(folder, `.${name}`));
}

try {
  const folder = resolve(process.argv[2] ?? "edge-receiver");
  create(folder);
  console.log(`The Worker is in ${folder}. Try it, and deploy it:

  cd ${relative(process.cwd(), folder) || "."}
  npm install
  cp .dev.vars.example .dev.vars     # and put your endpoint's secret in
  npm run dev
  npm run deploy                     # README.md: its secret and its settings`);
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
}
