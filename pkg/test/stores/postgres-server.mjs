// A real PostgreSQL for a test file, and an empty database for each of its tests.
//
// When `DATABASE_URL` names a server, databases are made there. Else a temporary one is started: in a folder of its own,
// reached through a socket in that folder. It refuses to run as root, so root hands both to an unprivileged user. A shell
// that reads from a pipe which only this process holds ends the server, however this process ends.

import { execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import pg from "pg";

let server;
let count = 0;

/** Makes an empty database and returns its address. */
export async function database() {
  server ??= process.env.DATABASE_URL ?? start();
  count += 1;
  const name = `claims_test_${process.pid}_${count}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  // A name from a process that was killed and whose id has come round again.
  await client.query(`DROP DATABASE IF EXISTS ${name}`);
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return named(server, name);
}

/** The address with another database. */
function named(url, name) {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

function start() {
  const folder = mkdtempSync(join(tmpdir(), "claims-postgres-"));
  const data = join(folder, "data");
  const owner = unprivileged();
  if (owner !== null) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  const as = (program, ...arguments_) => {
    if (owner === null) return [program, arguments_];
    return ["setpriv", [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups", program, ...arguments_]];
  };
  execFileSync(...as(find("initdb"), "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "-D", data), {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const settings = `-c listen_addresses= -c unix_socket_directories=${folder} -c fsync=off`;
  const log = join(folder, "server.log");
  execFileSync(...as(find("pg_ctl"), "--wait", "--silent", "-D", data, "-l", log, "-o", settings, "start"), {
    stdio: "ignore",
  });
  const script = 'trap "" INT TERM HUP; read _; "$1" -D "$2" --mode=immediate --wait --silent stop; rm -rf "${2%/*}"';
  const watch = spawn(...as("sh", "-c", script, "sh", find("pg_ctl"), data), { stdio: ["pipe", "ignore", "ignore"] });
  watch.unref();
  watch.stdin.unref();
  return `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`;
}

/** Debian keeps the programs of each version in a folder of their own. */
function find(program) {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort().reverse() : [];
  const folders = [...process.env.PATH.split(delimiter), ...versions.map((version) => join(debian, version, "bin"))];
  const found = folders.map((folder) => join(folder, program)).find(existsSync);
  if (found === undefined) {
    throw new Error(`${program} is not installed: on Debian \`apt install postgresql\`, or set DATABASE_URL to a server`);
  }
  return found;
}

/** The user that the server is run as; `null` when this one will do. */
function unprivileged() {
  if (process.getuid() !== 0) return null;
  const users = readFileSync("/etc/passwd", "utf8").split("\n").map((line) => line.split(":"));
  const [, , uid, gid] = users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  return { uid: Number(uid), gid: Number(gid) };
}
