// What shortens the way from loading an entry point to its first verdict (`cargo xtask bench verify`). A fresh process
// spends it on finding files and on compiling JavaScript, not on running it.
//
// Code that esbuild has written is changed within its lines, so that they stay where the source map says they are.

import { readFileSync } from "node:fs";

/** The sources whose functions a first verdict calls, most of them. */
const AT_ONCE = ["core", "delivery", "headers", "inlined", "known-options", "profiles", "secrets"];

/**
 * Has these functions compiled with the file. Engines only look through a function until it is called, and then read it
 * once more; one in parentheses they take for one that is called at once, and compile it the first time.
 */
export function compiledAtOnce(code) {
  let isChosen = false;
  let isOpen = false;
  const lines = code.split("\n").map((line) => {
    const [, source] = line.match(/^\/\/ dist\/esm\/(.+)\.js$/) ?? [];
    if (source !== undefined) isChosen = AT_ONCE.includes(source);
    const [, name] = line.match(/^function (\w+)\(/) ?? [];
    if (isChosen && name !== undefined) {
      isOpen = true;
      return `var ${name} = (${line}`;
    }
    if (!isOpen || line !== "}") return line;
    isOpen = false;
    return "});";
  });
  return lines.join("\n");
}

/** Has files loaded when something of them is asked for the first time. Bundlers still see what is required. */
export function loadedLater(code, paths) {
  return code.replace(/^var (import_\w+) = require\("(.+)"\);$/gm, (line, name, path) => {
    if (!paths.includes(path)) return line;
    const members = new Set([...code.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, "g"))].map(([, member]) => member));
    const getters = [...members].map((member) => `get ${member}() { return require("${path}").${member}; }`);
    return `var ${name} = { ${getters.join(", ")} };`;
  });
}

/**
 * For entry points that export what `exports.js` does: the exports are assigned in the end. Left to itself esbuild writes
 * helpers that hand out what may change later; they are a tenth of the start.
 */
export const plainlyExported = (names) => ({
  name: "plainly exported",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/dist\/esm\/(index|node)\.js$/ }, ({ path }) => {
      const own = readFileSync(path, "utf8");
      const [, constant] = own.match(/^export const (\w+)/m);
      const [code, map] = own
        .replace(/^export const /m, "const ")
        .replace(/^export \* from (.+);$/m, `import { ${names.join(", ")} } from $1;`)
        .split(/^(?=\/\/# sourceMappingURL=)/m);
      const assigned = [constant, ...names].sort().map((name) => `exports.${name} = ${name};\n`).join("");
      return { contents: `${code}\nObject.defineProperty(exports, "__esModule", { value: true });\n${assigned}${map}` };
    }),
});
