// One workerd with every Worker in it, and what its process took of the processor.

import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";

// The tests run Workers with it.
const { Miniflare } = createRequire(new URL("../../tests/node/package.json", import.meta.url))("miniflare");

/** Starts `workers`; their addresses, the process that runs them, and how to end it. */
export async function start(workers) {
  const persist = mkdtempSync(`${existsSync("/dev/shm") ? "/dev/shm" : tmpdir()}/bench-edge-`);
  const miniflare = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    cf: false, // the default asks the network for the properties of a request
    defaultPersistRoot: persist,
    // Standard output is for the tables.
    handleRuntimeStdio: (stdout, stderr) => {
      stdout.pipe(process.stderr);
      stderr.pipe(process.stderr);
    },
    workers,
  });
  await miniflare.ready;
  const urls = new Map();
  for (const { name } of workers) urls.set(name, await miniflare.unsafeGetDirectURL(name));
  const stop = async () => {
    await miniflare.dispose();
    rmSync(persist, { recursive: true });
  };
  return { urls, cpuNanoseconds: () => cpuNanoseconds(workerd()), stop };
}

/** The child of this process: it starts no other. */
function workerd() {
  const children = readdirSync("/proc/self/task").flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8").trim().split(" ").filter((pid) => pid !== ""));
  if (children.length !== 1) throw new Error(`workerd was expected to be the one child, not ${children}`);
  return children[0];
}

/** Processor time of all threads of a process. The scheduler's own figure: the other counts in hundredths of a second. */
function cpuNanoseconds(pid) {
  let sum = 0n;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += BigInt(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    } catch (error) {
      if (error.code !== "ENOENT" && error.code !== "ESRCH") throw error; // the thread has ended meanwhile
    }
  }
  return sum;
}
