// Reads deliveries (cases.mjs) from standard input and prints what the sample in JavaScript says of each.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { verify, VerificationError } = await import(pathToFileURL(`${process.argv[2]}/verify.mjs`));
const decode = (field) => (field === "-" ? null : Buffer.from(field, "base64"));

function judge(line) {
  const [body, timestamp, signature, eventId, now, secrets] = line.split("\t");
  const lines = { "service-timestamp": timestamp, "service-signature": signature, "service-event-id": eventId };
  const present = Object.entries(lines).filter(([, value]) => value !== "-");
  // Node reads headers as Latin-1.
  const headers = Object.fromEntries(present.map(([name, value]) => [name, decode(value).toString("latin1")]));
  const trusted = secrets === "-" ? [] : secrets.split(",").map((secret) => decode(secret).toString());
  try {
    const event = verify(decode(body), headers, trusted, Number(now));
    return `ok\t${Buffer.from(JSON.stringify(event)).toString("base64")}`;
  } catch (error) {
    if (error instanceof VerificationError) return error.code;
    if (error instanceof RangeError && error.message === "at most 8 secrets") return "configuration";
    throw error;
  }
}

for await (const line of createInterface({ input: process.stdin })) console.log(judge(line));
