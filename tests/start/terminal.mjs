// A terminal with a shell in it. Blocks are read by the shell as they are printed, one after the other, in one process: what
// a block exports, and where it goes to, holds for the next. A block that goes on is ended as a person ends it, with Ctrl-C.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** What the shell prints behind a block, and for every command that fails in it. */
const ENDED = "\u0001ended ";
const FAILED = "\u0001failed ";

export class Terminal {
  /** Everything that was shown so far. */
  output = "";
  #name;
  #shell;
  #files;
  #ended;
  #blocks = 0;
  #changed = [];

  /** Opens a terminal in `cwd`; `files` is a folder for the blocks. */
  constructor(name, { cwd, env, files }) {
    this.#name = name;
    this.#files = files;
    this.#shell = spawn("bash", ["--noprofile", "--norc"], { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
    this.#ended = once(this.#shell, "exit");
    const show = (text) => {
      this.output += text;
      for (const changed of this.#changed.splice(0)) changed();
    };
    this.#shell.stdout.setEncoding("utf8").on("data", show).once("end", () => show(`${FAILED}the shell has ended\n${ENDED}`));
    // As at a person's terminal, jobs get a process group each, and Ctrl-C does not end the shell.
    this.#type(`exec 2>&1; set -m; trap : INT; trap 'echo "${FAILED}$? $BASH_COMMAND"' ERR`);
  }

  /** Runs a block to its end, and returns what it showed. Every command must succeed. */
  async run(block) {
    const from = this.begin(block);
    await this.until(ENDED, from);
    return this.#outcome(from);
  }

  /** Begins a block that goes on; returns the place from which on it shows something. */
  begin(block) {
    const from = this.output.length;
    this.#blocks += 1;
    const file = join(this.#files, `${this.#name}-${this.#blocks}.sh`);
    writeFileSync(file, block);
    // Two lines: Ctrl-C gives up all of the first.
    this.#type(`. '${file}' </dev/null`);
    this.#type(`echo "${ENDED}$?"`);
    return from;
  }

  /** Waits until something is shown after `from`; returns all of it. */
  async until(wanted, from) {
    const found = () => (typeof wanted === "string" ? shown().includes(wanted) : wanted.test(shown()));
    const shown = () => this.output.slice(from);
    while (!found()) {
      const over = shown().includes(ENDED) || shown().includes(FAILED);
      assert.ok(wanted === ENDED || !over, `${this.#name}: ended before it showed ${wanted}:\n${shown()}`);
      await new Promise((resolve) => this.#changed.push(resolve));
    }
    return shown();
  }

  /** Ends what runs in the foreground, as Ctrl-C does; returns its exit code. */
  async interrupt() {
    const from = this.output.length;
    this.#signalJobs();
    const shown = await this.until(ENDED, from);
    // A shell tells a signal as 128 and its number.
    return Number(shown.match(/\u0001(?:failed|ended) (\d+)/)[1]);
  }

  /** Closes the terminal; what still runs in it ends. */
  async close() {
    this.#signalJobs();
    this.#shell.stdin.end();
    await this.#ended;
  }

  /** Sends SIGINT to what the shell runs: each job is a process group. */
  #signalJobs() {
    const { pid, exitCode, signalCode } = this.#shell;
    const children = `/proc/${pid}/task/${pid}/children`;
    if (exitCode !== null || signalCode !== null || !existsSync(children)) return;
    for (const job of readFileSync(children, "utf8").split(" ").filter(Boolean)) process.kill(-Number(job), "SIGINT");
  }

  #type(line) {
    this.#shell.stdin.write(`${line}\n`);
  }

  #outcome(from) {
    const shown = this.output.slice(from);
    assert.ok(!shown.includes(FAILED), `${this.#name}:\n${shown.replaceAll("\u0001", "")}`);
    return shown.slice(0, shown.indexOf(ENDED));
  }
}
