// How the samples of each language are run: the name of a program's file, what is done before with all of them (compile,
// in a folder of its own), and what runs one. The languages' programs are found by `cargo xtask`.

import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** A program that ends within a second is not worth much compiling. */
const JAVA_OPTIONS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

/** The OpenAPI documents are the longest answers. */
const PRINTED_MAX = 1 << 24;

/** Every notice is printed, and nothing but an answer is expected. */
const PHP_ERRORS = ["-d", "error_reporting=-1", "-d", "display_errors=1"];

/** By the labels of the samples. `run` takes a file and the environment, and gives `{ code, stdout, stderr }`. */
export const LANGUAGES = {
  curl: { file: () => "sample.sh", run: (file, env) => executed("sh", [file], env) },
  "verify-wasm/client": { file: () => "sample.mjs", prepare: linkPackage, run: inWorker },
  Python: { file: () => "sample.py", start: startPython },
  Go: { file: () => "main.go", prepare: buildGo, run: runGo },
  PHP: { file: () => "sample.php", run: (file, env) => executed("php", [...PHP_ERRORS, file], env) },
  Ruby: { file: () => "sample.rb", run: (file, env) => executed("ruby", ["-w", file], env) },
  Java: { file: (source) => `${source.match(/^class (\w+)/m)[1]}.java`, prepare: buildJava, run: runJava },
};

function executed(program, options, env) {
  return new Promise((resolve) => {
    execFile(program, options, { env: { ...process.env, ...env }, maxBuffer: PRINTED_MAX }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

/** The package as it is built is found as if it were installed. */
function linkPackage(folder) {
  mkdirSync(`${folder}/node_modules`);
  symlinkSync(path("../../../pkg"), `${folder}/node_modules/verify-wasm`);
}

/** A thread of its own has an environment of its own, and ends as a process does. */
async function inWorker(file, env) {
  const worker = new Worker(file, { env: { ...process.env, ...env }, stdout: true, stderr: true });
  let failure = "";
  worker.on("error", (error) => (failure = `${error.stack}\n`));
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  const [stdout, stderr, code] = await Promise.all([text(worker.stdout), text(worker.stderr), ended]);
  return { code, stdout, stderr: stderr + failure };
}

function startPython() {
  const driver = spawn("python3", ["-B", path("driver.py")], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: driver.stdout })[Symbol.asyncIterator]();
  const run = async (file, env) => {
    driver.stdin.write(`${JSON.stringify({ file, env })}\n`);
    return JSON.parse((await lines.next()).value);
  };
  return { run, end: () => driver.stdin.end() };
}

/** A module with a folder for each: nothing is fetched, there is nothing to fetch. */
function buildGo(folder, files) {
  const env = { ...process.env, GOPROXY: "off", GOFLAGS: "", GOTOOLCHAIN: "local" };
  const options = { cwd: folder, env, encoding: "utf8" };
  const unformatted = execFileSync("gofmt", ["-l", "."], options);
  if (unformatted !== "") throw new Error(`gofmt would write these differently:\n${unformatted}`);
  writeFileSync(`${folder}/go.mod`, "module samples\n\ngo 1.19\n");
  execFileSync("go", ["vet", "./..."], options);
  for (const document of documentsOf(files)) {
    execFileSync("go", ["build", "-o", `${document}/programs/`, `${document}/...`], options);
  }
}

/** The folders of the documents, which have a folder for each operation. */
function documentsOf(files) {
  return new Set(files.map((file) => dirname(dirname(file))));
}

/** Two operations of different documents may have one name, so each document's classes have a folder. */
function buildJava(folder, files) {
  for (const document of documentsOf(files)) {
    const own = files.filter((file) => file.startsWith(`${document}/`));
    execFileSync("javac", ["--release", "17", "-Xlint:all", "-Werror", "-d", `${document}/classes`, ...own]);
  }
}

function runGo(file, env) {
  return executed(join(dirname(dirname(file)), "programs", basename(dirname(file))), [], env);
}

function runJava(file, env) {
  return executed("java", [...JAVA_OPTIONS, "-cp", join(dirname(dirname(file)), "classes"), basename(file, ".java")], env);
}
