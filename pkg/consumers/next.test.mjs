// The package in Next.js: one route in the Edge runtime, one in Node, built by both of its bundlers and served.

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import process from "node:process";
import test from "node:test";
import { judged } from "./apps/judge.mjs";
import { apps, consumers, run, serve, vectors } from "./running.mjs";

const cwd = `${apps}/next`;
const next = `${consumers}node_modules/next/dist/bin/next`;

for (const bundler of ["turbopack", "webpack"]) {
  test(`Next.js, built by ${bundler}: routes in Node and in the Edge runtime`, async (t) => {
    const env = { NEXT_DIST_DIR: `.next-${bundler}` };
    t.after(() => rmSync(`${cwd}/${env.NEXT_DIST_DIR}`, { recursive: true, force: true }));
    await run(process.execPath, [next, "build", `--${bundler}`], { cwd, env });
    const address = await serve(t, process.execPath, [next, "start", "-H", "127.0.0.1", "-p", "0"], { cwd, env });
    for (const route of ["node", "edge"]) {
      const response = await fetch(`${address}/${route}`, { method: "POST", body: readFileSync(vectors) });
      assert.deepEqual(await response.json(), judged, route);
    }
  });
}
