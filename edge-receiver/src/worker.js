// The entry of the Worker: stands between the runtime and the compiled module, and keeps it alive.
//
// A call goes straight to the module. The module is built to abort when it panics, which ends its instance: its
// memory can no longer be trusted, and its unfinished promises never settle. So
//
//   - the call that panicked is answered here with a 500, and so are the others in flight, by this file or by
//     the runtime, which ends requests that can never be answered (the sender comes again to all of them),
//   - the next call gets a fresh instance, made from the same compiled module in about a millisecond,
//   - a Durable Object builds its part of the module anew when the instance is not the one it was built in.
//     Nothing is lost by that: what an object knows is in its database.
//
// No input is known to panic. Without this net, one that did would take the Worker down until it is evicted.
//
// `cargo xtask build` puts this file beside the glue that wasm-bindgen wrote (index.js).

import { DurableObject } from "cloudflare:workers";
import * as module from "./index.js";

// Shared with the module: it sets `criticalError` when it panics and counts `instanceId` up when it starts.
const life = module.__worker_init_state();

// The calls in flight, each as the function that fails it.
const inFlight = new Set();

const call = async (run) => {
  if (life.criticalError) {
    module.__wbg_reset_state();
    life.criticalError = false;
  }
  const { promise: instanceEnded, reject: fail } = Promise.withResolvers();
  inFlight.add(fail);
  try {
    return await Promise.race([run(), instanceEnded]);
  } catch (error) {
    notice(error);
    throw error;
  } finally {
    inFlight.delete(fail);
  }
};

// An instance that ends throws a RuntimeError. Which call it ended in is not known, so all are failed, with an error
// of another kind: one that comes late must not be taken for the end of the next instance. The runtime passes it on
// to other requests only if they still wait for something; those that do not are ended by it, and never come to
// their `finally`.
const notice = (error) => {
  if (error instanceof WebAssembly.RuntimeError) {
    life.criticalError = true;
    for (const fail of inFlight) {
      fail(new Error("the module's instance ended"));
    }
    inFlight.clear();
  }
};

// Mostly it ends in a continuation, whose errors go nowhere else.
addEventListener("error", (event) => notice(event.error));

export default {
  async fetch(request, env, context) {
    try {
      return await call(() => module.fetch(request, env, context));
    } catch {
      return Response.json({ code: "internal_error" }, { status: 500 });
    }
  },

  scheduled(controller, env, context) {
    return call(() => module.scheduled(controller, env, context));
  },
};

// A Durable Object, and its part of the module under the name of its class there.
class Part extends DurableObject {
  #part;
  #instanceId;

  fetch(request) {
    return call(() => this.part().fetch(request));
  }

  part() {
    if (this.#instanceId !== life.instanceId) {
      this.#part = new module[this.constructor.part](this.ctx, this.env);
      this.#instanceId = life.instanceId;
    }
    return this.#part;
  }
}

export class EventInbox extends Part {
  static part = "EventInbox";

  // One that fails rings again: the runtime tries it anew, on an instance that works.
  async alarm() {
    await call(() => this.part().alarm());
  }
}

export class Reconciliation extends Part {
  static part = "Reconciliation";
}
