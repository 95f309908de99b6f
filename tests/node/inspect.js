// An entry in front of the built Worker that lets a test ask an inbox directly, as only the Worker can: a request to
// `/inbox/<name><path>` goes to the Durable Object of that name, with that path. All else goes to the Worker, which
// runs unchanged; this file is only ever used by the tests.

import worker from "../../edge-receiver/dist/worker.js";

export * from "../../edge-receiver/dist/worker.js";

export default {
  ...worker,
  fetch(request, env, context) {
    const url = new URL(request.url);
    const [, root, name, ...path] = url.pathname.split("/");
    if (root !== "inbox") return worker.fetch(request, env, context);
    return env.INBOX.getByName(name).fetch(new Request(`https://inbox/${path.join("/")}`, request));
  },
};
