// Compiled, never run: a Worker, with the types of its runtime.

import { createReceiver } from "verify-wasm";
import { ClaimObject, createWorkersStore } from "verify-wasm/stores/workers";

export { ClaimObject };

interface Env {
  CLAIMS: DurableObjectNamespace;
  MARKERS: KVNamespace;
  SIGNING_SECRET: string;
}

const receiver = ({ CLAIMS: claims, MARKERS: markers, SIGNING_SECRET: secret }: Env) =>
  createReceiver({ secret, store: createWorkersStore({ claims, markers }), onEvent: ({ type }) => console.log(type) });

export default {
  fetch: (request, env): Promise<Response> => receiver(env)(request),
  async scheduled(_controller, env) {
    await receiver(env).retryPending();
  },
} satisfies ExportedHandler<Env>;
