// Runs Workers in workerd for a test that is written in Rust (tests/src/workerd/mod.rs).
//
// The test writes one line of JSON, what Miniflare shall run, and reads one line, `{"ready":true,"urls":{…}}`,
// with the address of each Worker. Then each further line is a question with an `id`, answered by a line with
// the same `id`. When the test closes the input, or dies, workerd is ended in order and so is this program.
//
// Nothing but these answers is written to standard output; the Workers' logs go to standard error.

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

// By `require`: an `import` has four megabytes of CommonJS searched for names first, which doubles the time of a start.
const { Miniflare } = createRequire(import.meta.url)("miniflare");

// What the Workers and the runtime have logged, line by line.
const log = [];

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const moduleOf = (path) => ({ type: path.endsWith(".wasm") ? "CompiledWasm" : "ESModule", path });

const workerOf = ({ modules, ...options }) => ({
  // A socket of its own for each Worker, so that a request reaches it exactly as it was sent.
  unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  ...options,
  modules: modules.map(moduleOf),
});

const start = async ({ persist, workers }) => {
  const miniflare = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    cf: false, // the default asks the network for the properties of a request
    defaultPersistRoot: persist,
    kvPersist: true,
    durableObjectsPersist: true,
    handleRuntimeStdio: (stdout, stderr) => {
      for (const stream of [stdout, stderr]) {
        stream.pipe(process.stderr);
        createInterface({ input: stream }).on("line", (line) => log.push(line));
      }
    },
    workers: workers.map(workerOf),
  });
  await miniflare.ready;
  const urls = {};
  for (const { name } of workers) {
    urls[name] = (await miniflare.unsafeGetDirectURL(name)).origin;
  }
  say({ ready: true, urls });
  return miniflare;
};

// The processes that this one has started: workerd.
const children = () =>
  readdirSync("/proc/self/task").flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8")
      .split(" ")
      .filter((child) => child.trim() !== ""),
  );

// Ends workerd as a power cut would: it gets no chance to finish anything.
const kill = () => {
  for (const child of children()) {
    process.kill(Number(child), "SIGKILL");
  }
  process.exit(0);
};

// What workerd holds in memory, in bytes.
const memory = () => {
  const held = (child) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child}/status`, "utf8"))?.[1] ?? 0);
  return children().reduce((sum, child) => sum + held(child), 0) * 1024;
};

const answer = async (miniflare, { op, worker, binding, key }) => {
  switch (op) {
    case "kill":
      return kill();
    case "logged":
      return log.filter((line) => line.includes(key)).length;
    case "memory":
      return memory();
    // As the cron trigger does. When it is answered, the handler has ended.
    case "scheduled":
      return (await (await miniflare.getWorker(worker)).scheduled()).outcome;
    // What the object of reconciliation says of itself.
    case "reconciliation": {
      const objects = await miniflare.getDurableObjectNamespace("RECONCILIATION", worker);
      const object = objects.get(objects.idFromName("reconciliation"));
      return (await object.fetch("https://reconciliation/show", { method: "POST" })).json();
    }
    case "kv_get":
      return (await miniflare.getKVNamespace(binding, worker)).getWithMetadata(key);
    case "kv_list":
      return (await miniflare.getKVNamespace(binding, worker)).list({ prefix: key });
    case "kv_delete":
      return (await miniflare.getKVNamespace(binding, worker)).delete(key);
    default:
      throw new Error(`there is no operation ${op}`);
  }
};

let miniflare;
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (miniflare === undefined) {
    miniflare = await start(message);
  } else {
    // Not waited for: a runtime is killed while it is busy.
    answer(miniflare, message).then((value) => say({ id: message.id, value: value ?? null }));
  }
}
await miniflare?.dispose();
