// The samples that the OpenAPI documents carry, and their placeholders: ids, a cursor and an invite code that are the same
// in every sample, where a reader puts their own.

import { readFileSync } from "node:fs";

const read = (name) => JSON.parse(readFileSync(new URL(`../../../docs/openapi/${name}.json`, import.meta.url), "utf8"));

export const DOCUMENTS = { merchant: read("merchant"), operator: read("operator") };

/** The samples with this label: of which operation, and the program as it is printed. */
export function samplesOf(label) {
  const samples = [];
  for (const [document, { paths }] of Object.entries(DOCUMENTS)) {
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const sample = operation["x-codeSamples"].find((one) => one.label === label);
        if (sample) samples.push({ document, path, method, operation, id: operation.operationId, source: sample.source });
      }
    }
  }
  return samples;
}

/** What an id's prefix says it is of. */
const KINDS = {
  alt: "alert", chk: "checkout", dlv: "delivery", evt: "event", inv: "invite_code", key: "key", mer: "merchant",
  osh: "share", pay: "payment", pcn: "connection", rcv: "recovery", rfd: "refund", shp: "shipment", sub: "subscription",
  we: "endpoint",
};
const PLACEHOLDER = /\b(?:(?<prefix>[a-z]{2,3})_01k3z[0-9a-z]{21}|(?<order>ORD-100001)|(?<cursor>AQEAAZf0b2x3))\b/g;

/** What a program's placeholders stand for. */
export function kindsIn(source) {
  return new Set([...source.matchAll(PLACEHOLDER)].map(kindOf));
}

/** The program with the ids of `records`, which are called by their kinds, and otherwise as it is. */
export function withIds(source, records) {
  return source.replace(PLACEHOLDER, (...match) => records[kindOf({ groups: match.at(-1) })]);
}

function kindOf({ groups: { prefix, order } }) {
  if (prefix) return KINDS[prefix];
  return order ? "order" : "cursor";
}
