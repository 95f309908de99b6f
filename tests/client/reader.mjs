// Reads so many events and says what it cost. Arguments: origin, events. The key comes as AUTHORITY_API_KEY.

import process from "node:process";
import { Client } from "../../pkg/dist/esm/client/index.js";

const [baseUrl, wanted] = process.argv.slice(2);
const client = new Client({ apiKey: process.env.AUTHORITY_API_KEY, baseUrl });

/** What is alive, in the heap and outside it. */
function alive() {
  globalThis.gc();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

let read = 0;
let gaps = 0;
let before;
let most = 0;
for await (const event of client.events.list({ limit: 100 })) {
  read += 1;
  if (event.sequence !== read) gaps += 1;
  // What is taken only once (connections, code, buffers) has been taken by then.
  if (read === 2000) before = alive();
  if (read > 2000 && read % 1000 === 0) most = Math.max(most, alive());
  if (read === Number(wanted)) break;
}
process.stdout.write(JSON.stringify({ read, gaps, grown: most - before }));
