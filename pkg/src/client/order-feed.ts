// The feed of changed orders, read with a checkpoint that the service keeps: no cursor to store, and the operator sees how
// far behind a consumer is (contract 4.12). An order that changes twice while it is read may come twice, each time as
// it is at that moment; compare `resource_version` with what you have.

import { checkOptions } from "../known-options.js";
import { ProcessingError } from "./errors.js";
import { FOLLOW_OPTIONS, type FollowOptions, follow } from "./follow.js";
import type { CheckpointsOperations, SyncOperations } from "./operations.js";
import type { OrderChange } from "./records.js";

/** What `client.sync.orders.catchUp` is told. */
export interface OrderFeedOptions extends FollowOptions {
  /** Names the consumer: `[a-z0-9][a-z0-9._-]{0,63}`. Its checkpoint is where the reading goes on. */
  checkpoint: string;
  /** Takes the order as it is now. When it throws, the call ends with a `ProcessingError`, and the checkpoint stays. */
  process: (change: OrderChange) => unknown;
}

/** Reads the feed from the checkpoint on; resolves to the last acknowledged cursor. */
export async function catchUpOrders(
  orders: SyncOperations["orders"],
  checkpoints: CheckpointsOperations,
  options: OrderFeedOptions,
): Promise<string | null> {
  checkOptions(options, ["checkpoint", "process", ...FOLLOW_OPTIONS]);
  const { checkpoint: name, process, signal } = options;
  if (typeof name !== "string") throw new TypeError("checkpoint must be the name of the consumer");
  if (typeof process !== "function") throw new TypeError("process must be a function");
  return follow(options, {
    from: async () => {
      const known = await checkpoints.list({ stream: "orders", name }, { signal }).first();
      return known.data[0]?.cursor ?? null;
    },
    page: (cursor, limit, signal) => orders({ cursor, limit }, { signal }).first(),
    each: async (change) => {
      try {
        await process(change);
      } catch (cause) {
        throw new ProcessingError(change.order_number, cause);
      }
    },
    done: (cursor) => checkpoints.acknowledge({ name, stream: "orders", cursor }),
  });
}
