// Runs the client's program and prints what it came to. The origin is the first argument.

import { story } from "../client.mjs";

const baseUrl = globalThis.Deno?.args[0] ?? process.argv[2];
console.log(JSON.stringify(await story(baseUrl)));
