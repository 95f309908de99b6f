// The machine that a reader sits at: an empty folder with a clone in it, a home, and what must be installed.
//
// In the test command the "clone" is an empty folder, and `cargo`, `npm`, `sudo` and `systemctl` are small programs
// (`stand-ins`) that use what is built and pinned already. In the proof it is a real clone, and only `cargo xtask test` is
// not run, because this may run inside of it, and no service is installed. Nothing of the documents is changed where
// namespaces can be made (`private.sh`); elsewhere the ports and the folders of the system are others, and nothing else.

import { accessSync, chmodSync, constants, existsSync, mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Document } from "./document.mjs";
import { Terminal } from "./terminal.mjs";

const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const HERE = join(CHECKOUT, "tests/start");

/** Whether everything is real: `cargo xtask prove start`. */
export const PROOF = process.env.START_PROOF === "yes";
/** How long a document may take, milliseconds; a release build is part of the proof. */
export const TIMEOUT = PROOF ? 3_600_000 : 300_000;
/** Whether this process has namespaces of its own. */
const PRIVATE = process.env.START_PRIVATE === "yes";

/** What the documents make outside the reader's own folders. */
const SYSTEM = ["/etc", "/var/lib", "/var/backups"].map((folder) => `${folder}/authority`);

/** What does not belong to a reader's environment: it comes from the command that runs this. */
const OURS = /^(CARGO|RUST|AUTHORITY|DATABASE_URL|START_|NODE_TEST|npm_(?!config_))/;

/** Makes a machine, which is gone after the test. */
export async function machine(t) {
  const folder = mkdtempSync(join(tmpdir(), "start-"));
  const [clone, home, bin, files] = ["checkout", "home", "bin", "blocks"].map((name) => join(folder, name));
  for (const made of [home, bin, files]) mkdirSync(made);
  if (PROOF) execFileSync("git", ["clone", "--quiet", CHECKOUT, clone]);
  else mkdirSync(clone);
  const isPrivate = PRIVATE || PROOF;
  // The service's user finds the program in it.
  if (isPrivate) chmodSync(folder, 0o755);
  const ports = isPrivate ? {} : await freePorts(["8080", "8081", "3000"]);
  const env = environment({ home, bin, ports, system: isPrivate ? "" : folder });
  const adapt = isPrivate ? (text) => text : (text) => moved(text, folder, ports);
  const terminals = [];
  t.after(async () => {
    if (existsSync(join(home, "authority.pid"))) execFileSync(join(bin, "systemctl"), ["stop", "authority"], { env });
    for (const terminal of terminals) await terminal.close();
    rmSync(folder, { recursive: true });
    // Each document begins on a machine that has none of them; nobody but this process sees these.
    if (PRIVATE) for (const made of SYSTEM) rmSync(made, { recursive: true, force: true });
  });
  return {
    folder,
    clone,
    document: (path, heading) => new Document(new URL(`file://${CHECKOUT}/${path}`), adapt, heading),
    terminal(name) {
      const opened = new Terminal(name, { cwd: clone, env, files });
      terminals.push(opened);
      return opened;
    },
    save: (path, text) => writeFileSync(join(folder, path), text),
    path: (path) => adapt(path),
    accepts: (port) => accepted(ports[port] ?? port),
    port: (port) => Number(ports[port] ?? port),
  };
}

function environment({ home, bin, ports, system }) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name)));
  const path = process.env.PATH.split(delimiter);
  const installed = (program) => path.map((entry) => join(entry, program)).find((file) => executable(file));
  const stands = (name, as = name) => symlinkSync(join(HERE, "stand-ins", name), join(bin, as));
  for (const name of ["cargo", "sudo", "systemctl", ...(PROOF ? [] : ["npm"])]) stands(name);
  if (system) for (const name of ["useradd", "chgrp", "install"]) stands("one-user", name);
  const node = process.env.START_NODE ? [process.env.START_NODE] : [];
  const before = process.env.HOME;
  return {
    ...env,
    HOME: home,
    PATH: [bin, ...node, ...path].join(delimiter),
    CHECKOUT,
    SYSTEM: system,
    NPM: installed("npm"),
    // For the stand-ins: what is built, or else the program that is real.
    ...(PROOF ? { CARGO_PROGRAM: installed("cargo") } : { AUTHORITY_BINARY: process.env.AUTHORITY_BINARY }),
    // Of the home that is left.
    CARGO_HOME: process.env.CARGO_HOME ?? join(before, ".cargo"),
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(before, ".rustup"),
    npm_config_userconfig: process.env.npm_config_userconfig ?? join(before, ".npmrc"),
    npm_config_update_notifier: "false",
    ...(ports["8080"] && {
      AUTHORITY_LISTEN: `127.0.0.1:${ports["8080"]}`,
      AUTHORITY_OPERATOR_LISTEN: `127.0.0.1:${ports["8081"]}`,
    }),
  };
}

function executable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The text with other ports, and with the folders of the system below this one. */
function moved(text, folder, ports) {
  const elsewhere = text.replaceAll(/\/(?:etc|var\/lib|var\/backups)\/authority\b/g, (path) => folder + path);
  return elsewhere.replaceAll(/\b(?:8080|8081|3000)\b/g, (port) => ports[port]);
}

async function freePorts(wanted) {
  const servers = wanted.map(() => createServer().listen(0, "127.0.0.1"));
  const found = {};
  for (const [index, server] of servers.entries()) {
    if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
    found[wanted[index]] = String(server.address().port);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return found;
}

/** Waits until something accepts connections on a port. */
async function accepted(port) {
  for (;;) {
    const outcome = await new Promise((resolve) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.once("connect", () => resolve("accepted")).once("error", () => resolve("refused"));
      socket.once("connect", () => socket.destroy());
    });
    if (outcome === "accepted") return;
    await new Promise((again) => setTimeout(again, 20));
  }
}
