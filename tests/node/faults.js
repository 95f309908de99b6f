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

// The worker crate goes by the name of a binding's class.
class DurableObjectNamespace {
  constructor(getByName) {
    this.getByName = getByName;
  }
}

const inbox = (fetch) => ({ INBOX: new DurableObjectNamespace(() => ({ fetch })) });

const faults = {
  "records-throw": { DEDUP_RECORDS: brokenRecords(fail) },
  "records-reject": { DEDUP_RECORDS: brokenRecords(reject) },
  "inbox-unreachable": { INBOX: new DurableObjectNamespace(fail) },
  "inbox-throws": inbox(fail),
  "inbox-rejects": inbox(reject),
  "inbox-500": inbox(async () => new Response(null, { status: 500 })),
  "inbox-404": inbox(async () => new Response(null, { status: 404 })),
};

// The worker crate unwraps what `new Headers` gives when it builds an answer, so this makes the module panic: after its
// awaits, and after the event was claimed.
const panic = {
  waitUntil() {
    const { Headers } = globalThis;
    globalThis.Headers = class {
      constructor() {
        globalThis.Headers = Headers;
        fail();
      }
    };
  },
};

// What a client that hangs up leaves behind: nothing may be done after the answer.
const gone = { waitUntil: fail };

const contexts = { panic, gone };

export default {
  fetch(request, env, context) {
    const fault = request.headers.get("x-fault");
    if (fault === "inbox-panic" || fault === "inbox-alone") {
      return past(request, env);
    }
    return worker.fetch(request, { ...env, ...faults[fault] }, contexts[fault] ?? context);
  },
};
