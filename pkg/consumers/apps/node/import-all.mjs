// Imports the modules named and prints what each exports.

import process from "node:process";

const names = {};
for (const specifier of process.argv.slice(2)) names[specifier] = Object.keys(await import(specifier)).sort();
console.log(JSON.stringify(names));
