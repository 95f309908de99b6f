// A document as a reader works through it: block after block, each used once, none passed over.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** The fenced blocks that name their language, in order, each with the text since the block before it. */
export function blocks(text) {
  const found = [];
  let open;
  let prose = "";
  for (const line of text.split("\n")) {
    const fence = line.match(/^```(\w*)/);
    if (!fence) {
      if (open) open.text += `${line}\n`;
      else prose += `${line}\n`;
    } else if (open) {
      if (open.language) found.push(open);
      open = undefined;
    } else {
      open = { language: fence[1], text: "", before: prose };
      prose = "";
    }
  }
  return { found, after: prose };
}

/** A chapter: what stands below a heading, up to the next one that is not below it. */
function chapterOf(text, heading) {
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, "") === heading);
  assert.notEqual(begin, -1, `there is no heading ${heading}`);
  const level = lines[begin].match(/^#+/)[0].length;
  const length = lines.slice(begin + 1).findIndex((line) => (line.match(/^(#+) /)?.[1].length ?? Infinity) <= level);
  return lines.slice(begin, length === -1 ? undefined : begin + 1 + length).join("\n");
}

/**
 * Hands out the blocks of a file, or of one of its chapters, in their order; `adapt` is what the machine changes in every text,
 * mostly nothing.
 */
export class Document {
  #name;
  #blocks;
  #adapt;

  constructor(url, adapt, heading) {
    this.#name = url.pathname.split("/").at(-1);
    const text = readFileSync(url, "utf8");
    this.text = heading ? chapterOf(text, heading) : text;
    this.#blocks = blocks(this.text).found;
    this.#adapt = adapt;
  }

  /** The next block: a shell's commands. */
  commands() {
    return this.#next("sh").text;
  }

  /** The next block: the program that the prose around it has the reader save under this name. */
  program(name) {
    const { before, text } = this.#next("js");
    const around = before + (this.#blocks[0]?.before ?? "");
    assert.ok(around.includes(`\`${name}\``), `${this.#name} does not say that this is ${name}:\n${text}`);
    return text;
  }

  /** The next block: what a line of JSON says. */
  json() {
    return JSON.parse(this.#next("json").text);
  }

  /** The next block: lines that are shown, as a pattern in which … is anything. */
  shown() {
    const lines = this.#next("text").text.trimEnd().split("\n");
    const pattern = (line) => line.split("…").map((part) => escaped(part)).join(".*");
    return new RegExp(`^${lines.map(pattern).join("\\n(?:.*\\n)*?")}$`, "m");
  }

  /** Asserts that every block was used. */
  isDone() {
    assert.deepEqual(this.#blocks, [], `blocks of ${this.#name} that the test does not run`);
  }

  #next(language) {
    const block = this.#blocks.shift();
    assert.equal(block?.language, language, `${this.#name} has another block here:\n${block?.text}`);
    return { before: block.before, text: this.#adapt(block.text) };
  }
}

const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
