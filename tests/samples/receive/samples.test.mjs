// The samples of `docs/receive` give every delivery the verdict of the contract, each in its own language.
//
// SAMPLE_LANGUAGES says which are tried (`cargo xtask test samples`: Python and Node, which every machine of this project has;
// `cargo xtask prove samples`: all), SAMPLE_BUILDS where they may be compiled, DELIVERIES a file of random deliveries
// with their native verdicts. No language is excused from any delivery: the list of exceptions is empty, so there is none.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { answered, random, traps, vectors } from "./cases.mjs";
import { commandOf } from "./languages.mjs";

const { SAMPLE_LANGUAGES, SAMPLE_BUILDS, DELIVERIES } = process.env;
assert.ok(SAMPLE_LANGUAGES && SAMPLE_BUILDS, "run `cargo xtask test samples` or `cargo xtask prove samples`");

/** How many there are: a run that saw fewer has not seen all. */
const VECTORS = 129;

const sources = [
  ["vectors", vectors()],
  ["traps", traps()],
];
if (DELIVERIES) sources.push(["random deliveries", await random(DELIVERIES)]);
assert.equal(sources[0][1].length, VECTORS);
for (const [name, cases] of sources) {
  const verdicts = new Set(cases.map(({ expect }) => expect.split(" ")[0]));
  // Fifteen codes and ok; beyond the vectors also `configuration`.
  if (name !== "traps") assert.equal(verdicts.size, name === "vectors" ? 16 : 17, name);
}

for (const language of SAMPLE_LANGUAGES.split(" ")) {
  test(language, async (t) => {
    const [program, ...options] = commandOf(language, `${SAMPLE_BUILDS}/${language}`);
    for (const [name, cases] of sources) {
      await t.test(`${cases.length} ${name}`, () => {
        const input = cases.map(({ line }) => `${line}\n`).join("");
        const { status, stdout, stderr, error } = spawnSync(program, options, { input, maxBuffer: 1 << 30 });
        assert.equal(error, undefined);
        assert.equal(stderr.toString(), "");
        assert.equal(status, 0);
        const answers = stdout.toString().split("\n");
        assert.equal(answers.pop(), "");
        assert.equal(answers.length, cases.length);
        const wrong = cases.flatMap(({ name, expect }, at) => {
          const answer = answered(answers[at]);
          return answer === expect ? [] : [{ name, answer: answer.slice(0, 400), expect: expect.slice(0, 400) }];
        });
        assert.deepEqual(wrong, []);
      });
    }
  });
}
