// An entry in front of the built Worker in which reconciliation comes to a stop: when STOP_AFTER events of a run were taken
// in, it hears nothing more from the inbox. So a test can end the runtime at exactly that point; it is told by a
// request to TELL. The Worker itself runs unchanged; this file is only ever used by the tests.

import worker, { Reconciliation as Unstopped } from "../../edge-receiver/dist/worker.js";

export * from "../../edge-receiver/dist/worker.js";
export default worker;

// The worker crate goes by the name of a binding's class.
class DurableObjectNamespace {
  constructor(getByName) {
    this.getByName = getByName;
  }
}

// How many events a batch has: each is its length and its text.
const eventsIn = (batch) => {
  let count = 0;
  for (let at = 0; at < batch.byteLength; count += 1) at += 4 + new DataView(batch).getUint32(at);
  return count;
};

export class Reconciliation extends Unstopped {
  constructor(context, env) {
    let left = Number(env.STOP_AFTER);
    const fetch = async (stub, request) => {
      left -= eventsIn(await request.clone().arrayBuffer());
      const answer = await stub.fetch(request);
      if (left > 0) return answer;
      await globalThis.fetch(env.TELL);
      return new Promise(() => {});
    };
    const getByName = (name) => {
      const stub = env.INBOX.getByName(name);
      return { fetch: (request) => fetch(stub, request) };
    };
    super(context, { ...env, INBOX: new DurableObjectNamespace(getByName) });
  }
}
