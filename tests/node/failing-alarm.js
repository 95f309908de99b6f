// An entry in front of the built Worker whose inboxes fail the first time that their alarm rings, as when the module
// has panicked meanwhile. The Worker itself runs unchanged; this file is only ever used by the tests.

import worker, { EventInbox as Inbox } from "../../edge-receiver/dist/worker.js";

export { Reconciliation } from "../../edge-receiver/dist/worker.js";

export class EventInbox extends Inbox {
  #hasFailed = false;

  async alarm() {
    if (this.#hasFailed) return super.alarm();
    this.#hasFailed = true;
    console.log("injected fault");
    throw new Error("injected fault");
  }
}

export default {
  ...worker,
  fetch(request, env, context) {
    const [, root, name, ...path] = new URL(request.url).pathname.split("/");
    if (root !== "inbox") return worker.fetch(request, env, context);
    return env.INBOX.getByName(name).fetch(new Request(`https://inbox/${path.join("/")}`, request));
  },
};
