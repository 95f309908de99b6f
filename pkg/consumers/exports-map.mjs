// Reads the map of entry points as it stands in the installed package: what can be imported, and where each path
// leads under which conditions. A new entry point is in the tests because it is in the map.

import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { installed } from "./running.mjs";

/** The manifest that the package was packed with. */
export const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));

/** Every leaf of the map: the subpath, the conditions that lead to it, and the file. Patterns are spelled out. */
export const leaves = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
  targets(target).flatMap((leaf) => spelledOut({ subpath, ...leaf })),
);

/** What a program can import, as it would write it: every subpath that leads to JavaScript. */
export const importable = [
  ...new Set(leaves.filter(({ file }) => file.endsWith(".js")).map(({ subpath }) => specifier(subpath))),
];

/** A subpath of the map as a program writes it. */
export function specifier(subpath) {
  return manifest.name + subpath.slice(1);
}

function targets(target, conditions = []) {
  if (typeof target === "string") return [{ conditions, file: target }];
  return Object.entries(target).flatMap(([condition, next]) => targets(next, [...conditions, condition]));
}

function spelledOut(leaf) {
  if (!leaf.subpath.includes("*")) return [leaf];
  const [before, after] = leaf.file.split("*");
  const files = readdirSync(join(installed, dirname(`${before}x`))).map((name) => `${dirname(`${before}x`)}/${name}`);
  const matching = files.filter((file) => file.startsWith(before) && file.endsWith(after));
  return matching.map((file) => {
    const name = file.slice(before.length, file.length - after.length);
    return { ...leaf, subpath: leaf.subpath.replace("*", name), file };
  });
}
