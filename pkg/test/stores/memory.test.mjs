// The store for tests keeps to the same rules as the others, as long as its process lives.

import { createMemoryStore } from "verify-wasm/stores/memory";
import { conformance, largePurge } from "./conformance.mjs";

const open = () => {
  const store = createMemoryStore();
  return () => store;
};
conformance("memory", open);
largePurge("memory", open);
