// How the sample of each language is run: its name, what is done before (compile, in a folder of its own), the command
// that reads deliveries from standard input. The languages' programs are found by `cargo xtask`.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const samples = path("../../../docs/receive");

export const LANGUAGES = {
  python: { command: ["python3", "-B", path("driver.py"), samples] },
  node: { command: ["node", path("driver.mjs"), samples] },
  go: { prepare: prepareGo },
  php: { command: ["php", path("driver.php"), samples] },
  ruby: { command: ["ruby", path("driver.rb"), samples] },
  java: { prepare: prepareJava },
};

/** The program and its arguments, after what has to be compiled is compiled into `folder`. */
export function commandOf(language, folder) {
  const { command, prepare } = LANGUAGES[language];
  if (command !== undefined) return command;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return prepare(folder);
}

/** A module of the sample and its driver: nothing is fetched, there is nothing to fetch. */
function prepareGo(folder) {
  const options = { cwd: folder, env: { ...process.env, GOPROXY: "off", GOFLAGS: "", GOTOOLCHAIN: "local" } };
  mkdirSync(`${folder}/receive`);
  copyFileSync(`${samples}/verify.go`, `${folder}/receive/verify.go`);
  copyFileSync(path("driver.go"), `${folder}/driver.go`);
  writeFileSync(`${folder}/go.mod`, "module samples\n\ngo 1.19\n");
  execFileSync("go", ["vet", "./..."], options);
  execFileSync("go", ["build", "-o", "driver", "."], options);
  return [`${folder}/driver`];
}

function prepareJava(folder) {
  const sources = ["Verify.java", "Json.java"].map((name) => `${samples}/${name}`);
  const warnings = ["-Xlint:all,-serial", "-Werror"];
  execFileSync("javac", ["--release", "17", ...warnings, "-d", folder, ...sources, path("Driver.java")]);
  return ["java", "-cp", folder, "Driver"];
}
