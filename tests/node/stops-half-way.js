// An entry in front of the built Worker in which reconciliation comes to a stop: when STOP_AFTER events of a run were taken
// in, it hears nothing more from the inbox. So a test can end the runtime at exactly that point; it is told by a
// request to TELL. The Worker itself runs unchanged; this file is only ever used by the tests.

import worker, { Reconciliation as Unstopped } from "../../edge-receiver/dist/worker.js";

export * from "../../edge-receiver/dist/worker.js";
export default worker;

// How many events a batch has: each is its length and its text.
const eventsIn = (batch) => {
  const lengths = new DataView(batch.buffer, batch.byteOffset);
  let count = 0;
  for (let at = 0; at < batch.length; count += 1) at += 4 + lengths.getUint32(at);
  return count;
};

export class Reconciliation extends Unstopped {
  constructor(context, env) {
    let left = Number(env.STOP_AFTER);
    const fetch = async (stub, url, request) => {
      left -= eventsIn(request.body);
      const answer = await stub.fetch(url, request);
      if (left > 0) return answer;
      await globalThis.fetch(env.TELL);
      return new Promise(() => {});
    };
    const getByName = (name) => {
      const stub = env.INBOX.getByName(name);
      return { fetch: (url, request) => fetch(stub, url, request) };
    };
    super(context, { ...env, INBOX: { getByName } });
  }
}
