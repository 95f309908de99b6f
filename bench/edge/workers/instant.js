// An entry in front of the built Worker whose storage answers at once: what is left is the Worker's own work, from the
// request over the verification to the answer.

import worker from "../../../edge-receiver/dist/worker.js";

export * from "../../../edge-receiver/dist/worker.js";

const inbox = { fetch: async () => new Response(null, { status: 201 }) };
const inboxes = { getByName: () => inbox };
const nothing = async () => null;

/** The entry, with `known` as what KV says of every event. */
export function entry(known) {
  const records = { get: async () => known, getWithMetadata: nothing, put: nothing, list: nothing, delete: nothing };
  let instant;
  return {
    fetch(request, env, context) {
      instant ??= { ...env, INBOX: inboxes, DEDUP_RECORDS: records };
      return worker.fetch(request, instant, context);
    },
  };
}

export default entry(null);
