// An entry in front of the built Worker that makes what the Worker leans on fail, as a request asks in its
// header `x-fault`. The Worker itself runs unchanged; this file is only ever used by the tests.

import worker, { EventInbox as Inbox } from "../../edge-receiver/dist/worker.js";

export { Reconciliation } from "../../edge-receiver/dist/worker.js";

const fail = () => {
  throw new Error("injected fault");
};
const reject = async () => fail();

// The worker crate unwraps what `Request.cf` gives, so a request without it makes the module panic.
export class EventInbox extends Inbox {
  fetch(request) {
    if (request.headers.get("x-fault") === "inbox-panic") {
      Object.defineProperty(request, "cf", { get: fail });
    }
    return super.fetch(request);
  }
}

// Takes a request to an inbox past the Worker, as it is where the two run in different places.
const past = async (request, env) => {
  try {
    return await env.INBOX.getByName("inbox-00").fetch(new Request("https://inbox/claim", request));
  } catch {
    return new Response(null, { status: 500 });
  }
};

// Workers KV as it is when it cannot be reached: every operation fails, at once or later.
const brokenRecords = (operation) => ({
  get: operation,
  getWithMetadata: operation,
  put: operation,
  list: operation,
  delete: operation,
});

const inbox = (fetch) => ({ INBOX: { getByName: () => ({ fetch }) } });

const faults = {
  "records-throw": { DEDUP_RECORDS: brokenRecords(fail) },
  "records-reject": { DEDUP_RECORDS: brokenRecords(reject) },
  "inbox-unreachable": { INBOX: { getByName: fail } },
  "inbox-throws": inbox(fail),
  "inbox-rejects": inbox(reject),
  "inbox-500": inbox(async () => new Response(null, { status: 500 })),
  "inbox-404": inbox(async () => new Response(null, { status: 404 })),
};

// Nothing in the module panics on this way. What throws where the module expects nothing to throw ends its instance as a
// panic does: here it is the making of the answer, after the waits and after the event was claimed.
const end = {
  waitUntil() {
    const { Response } = globalThis;
    globalThis.Response = class {
      constructor() {
        globalThis.Response = Response;
        fail();
      }
    };
  },
};

// What a client that hangs up leaves behind: nothing may be done after the answer.
const gone = { waitUntil: fail };

const contexts = { end, gone };

export default {
  fetch(request, env, context) {
    const fault = request.headers.get("x-fault");
    if (fault === "inbox-panic" || fault === "inbox-alone") {
      return past(request, env);
    }
    return worker.fetch(request, { ...env, ...faults[fault] }, contexts[fault] ?? context);
  },
};
