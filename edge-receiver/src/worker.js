// The entry of the Worker: stands between the runtime and the compiled module, and keeps it alive.
//
// A call goes straight to the module, a request in steps (`answer`). The module is built to abort when it panics, which
// ends its instance: its memory can no longer be trusted, and its unfinished promises never settle. So
//
//   - the call in which that happened is answered here with a 500, and so are the others in flight, by this file or by
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

const revive = () => {
  if (life.criticalError) {
    module.__wbg_reset_state();
    life.criticalError = false;
  }
};

const call = async (run) => {
  revive();
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

// Which of the calls in flight the instance ended in is not always known, so all are failed, with an error of another
// kind: one that comes late must not be taken for the end of the next instance. The runtime passes it on to other
// requests only if they still wait for something; those that do not are ended by it, and never come to their `finally`.
const ended = (error) => {
  console.error("the module's instance ended", error);
  life.criticalError = true;
  for (const fail of inFlight) {
    fail(new Error("the instance of this call ended"));
  }
  inFlight.clear();
};

// An instance that ends throws a RuntimeError.
const notice = (error) => {
  if (error instanceof WebAssembly.RuntimeError) ended(error);
};

// A request goes in steps: the module works until it has to wait, says for which promise, and is called again with what
// became of it. What is not brought to an end here, because the runtime gave the request up or the instance ended, is
// freed with its object.
const answer = async (request, env, context) => {
  revive();
  const instanceId = life.instanceId;
  const exchange = step(() => new module.Exchange(request, env, context));
  let reached = step(() => exchange.resume(true, undefined));
  while (reached instanceof Promise) {
    let [isFulfilled, value] = [true, undefined];
    try {
      value = await reached;
    } catch (error) {
      [isFulfilled, value] = [false, error];
    }
    if (life.criticalError || life.instanceId !== instanceId) throw new Error("the instance of this request ended");
    reached = step(() => exchange.resume(isFulfilled, value));
  }
  exchange.free();
  if (reached === undefined) throw new Error("the request cannot go on");
  return reached;
};

// No step throws by itself: whatever comes through has left the instance half done.
const step = (run) => {
  try {
    return run();
  } catch (error) {
    ended(error);
    throw error;
  }
};

// Mostly it ends in a continuation, whose errors go nowhere else.
addEventListener("error", (event) => notice(event.error));

export default {
  async fetch(request, env, context) {
    try {
      return await answer(request, env, context);
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
