// Puts the samples into `docs/receive.md`, as they are: behind the line that links a file comes a block with its text.
// `node document.mjs` writes the document; the test compares.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const folder = fileURLToPath(new URL("../../../docs/receive", import.meta.url));
export const document = `${folder}.md`;

/** A line that is a link to a sample, and the block behind it. No sample has a line that begins with backticks. */
const SAMPLE = /^\[(?<name>[^\]]+)\]\(receive\/\k<name>\)\n(?:\n```\w+\n[^]*?\n```\n)?/gm;

/** The document's text with the samples as they are now, and the names of the samples in it. */
export function withSamples(text) {
  const names = [];
  const whole = text.replaceAll(SAMPLE, (...match) => {
    const { name } = match.at(-1);
    names.push(name);
    return `[${name}](receive/${name})\n\n\`\`\`${languageOf(name)}\n${readFileSync(`${folder}/${name}`, "utf8")}\`\`\`\n`;
  });
  return { whole, names };
}

function languageOf(name) {
  const languages = { py: "python", mjs: "js", go: "go", php: "php", rb: "ruby", java: "java", sh: "sh" };
  return languages[name.split(".").at(-1)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(document, withSamples(readFileSync(document, "utf8")).whole);
}
