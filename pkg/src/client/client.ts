// The client of the merchant API and the sandbox (contract 19).
//
// The operations are a table that is generated from the OpenAPI document; each becomes a method here, and all go through
// `call`. By hand above them: catching up, the feed of orders, changes that others get in the way of. A client has no
// state but its settings: make one and keep it.

import { type CatchUpOptions, catchUp } from "./catch-up.js";
import { call } from "./call.js";
import { ApiError } from "./errors.js";
import { OPERATIONS } from "./operation-table.js";
import type { EventsOperations, Operations, OrdersOperations, SyncOperations } from "./operations.js";
import type { ClientOptions, ConditionalWriteOptions, RequestOptions } from "./options.js";
import { type OrderFeedOptions, catchUpOrders } from "./order-feed.js";
import { type Page, Pages } from "./pages.js";
import { bodyOf, pathOf } from "./request.js";
import { type Settings, masked, settingsOf } from "./settings.js";
import { checkOptions } from "../known-options.js";
import type { Order } from "../records/index.js";

/** `client.orders`, with what several operations make. */
export interface OrdersClient extends OrdersOperations {
  /**
   * Changes an order as it is now. `change` gets the order and the options that make the write refuse another version;
   * when somebody else was quicker, it is called again with the order as it is then, up to five times.
   *
   * @example
   * ```ts
   * await client.orders.change("ORD-100001", (order, options) =>
   *   client.orders.fulfillment(order.order_number, { fulfillment_status: "fulfilled" }, options),
   * );
   * ```
   */
  change<Result>(
    order: string,
    change: (order: Order, options: { ifMatch: number }) => Promise<Result>,
    options?: RequestOptions,
  ): Promise<Result>;
}

/** `client.events`, with the catch-up procedure. */
export interface EventsClient extends EventsOperations {
  /**
   * Processes every event after the saved cursor, each claimed first, and saves the cursor after each page.
   *
   * @returns the last cursor that was saved; `null` when there was nothing to save
   * @throws {ProcessingError} `process` has thrown
   *
   * @example
   * ```ts
   * await client.events.catchUp({
   *   from: saved.cursor,
   *   store,
   *   process: async (event) => console.log(event.id, event.type),
   *   save: async (cursor) => {
   *     saved.cursor = cursor;
   *   },
   * });
   * ```
   */
  catchUp(options: CatchUpOptions): Promise<string | null>;
}

/** `client.sync.orders`: a list, with a way to follow it. */
export type OrderFeed = SyncOperations["orders"] & {
  /**
   * Processes every order that has changed since the checkpoint, and moves the checkpoint after each page.
   *
   * @returns the last cursor that was acknowledged; `null` when there was nothing to acknowledge
   * @throws {ProcessingError} `process` has thrown
   *
   * @example
   * ```ts
   * await client.sync.orders.catchUp({
   *   checkpoint: "warehouse",
   *   process: async (change) => console.log(change.order_number, change.order.status),
   * });
   * ```
   */
  catchUp(options: OrderFeedOptions): Promise<string | null>;
};

/** The groups of operations; the methods of each are in its interface. */
export interface Client extends Omit<Operations, "orders" | "events" | "sync"> {
  readonly orders: OrdersClient;
  readonly events: EventsClient;
  readonly sync: { readonly orders: OrderFeed };
}

type Group = { [name: string]: Group | ((...given: unknown[]) => unknown) };

const CHANGES_MAX = 5;
/** What every call can be told: a misspelt option would be passed over, and a key of one's own with it. */
const OPTIONS = ["signal", "maxRetries", "timeoutMs", "deadlineMs", "traceparent"];

/**
 * A merchant's client, for servers: a key does not belong in a browser.
 *
 * @example
 * ```ts
 * const client = new Client({ apiKey: process.env.AUTHORITY_API_KEY!, baseUrl: "https://commerce.example.com" });
 * const order = await client.orders.get("ORD-100001");
 * const refund = await client.refunds.request(order.order_number, { amount: 1500, reason: "damaged" });
 * ```
 */
export class Client {
  readonly #settings: Settings;

  /**
   * @throws {TypeError} an option is missing, has the wrong type, or does not exist; or this is a browser's window
   * @throws {RangeError} an option is outside its range
   */
  constructor(options: ClientOptions) {
    if (typeof window === "object" && typeof document === "object") {
      throw new TypeError("this client is for servers: in a browser everybody could read the key");
    }
    const settings = settingsOf(options);
    this.#settings = settings;
    for (const [name, how] of Object.entries(OPERATIONS)) {
      const path = name.split(".");
      const verb = path.pop() as string;
      let group = this as unknown as Group;
      for (const part of path) group = (group[part] ??= {}) as Group;
      group[verb] = operation(settings, name, how);
    }
    const { orders, events, sync, checkpoints } = this;
    Object.assign(orders, { change: (...given: Parameters<OrdersClient["change"]>) => change(orders, ...given) });
    Object.assign(events, { catchUp: (options: CatchUpOptions) => catchUp(events.list, options) });
    Object.assign(sync.orders, {
      catchUp: (options: OrderFeedOptions) => catchUpOrders(sync.orders, checkpoints, options),
    });
  }

  /** What may be shown of a client. */
  toJSON(): { baseUrl: string; apiKey: string } {
    return { baseUrl: this.#settings.origin, apiKey: masked(this.#settings) };
  }

  /** What Node shows of it. */
  [Symbol.for("nodejs.util.inspect.custom")](): { baseUrl: string; apiKey: string } {
    return this.toJSON();
  }
}

/** One operation as a method: path parameters, then a body or a filter, then options. */
function operation(settings: Settings, name: string, how: string): (...given: unknown[]) => unknown {
  const [method, template, ...traits] = how.split(" ") as [string, string, ...string[]];
  const parameters = template.split("{").length - 1;
  const known = [...OPTIONS];
  if (method !== "GET") known.push("idempotencyKey");
  if (traits.includes("if-match")) known.push("ifMatch");
  const ask = (path: string, body: string | undefined, options: ConditionalWriteOptions = {}) => {
    checkOptions(options, known);
    return call(settings, { operation: name, method, path, body, options });
  };
  if (traits.includes("list")) {
    return (...given) => {
      const filter = (given[parameters] ?? {}) as object;
      const options = given[parameters + 1] as RequestOptions | undefined;
      pathOf(template, given, filter); // what is wrong with the filter is said here, and not where the list is read
      return new Pages(async (cursor) => {
        const path = pathOf(template, given, cursor === undefined ? filter : { ...filter, cursor });
        return (await ask(path, undefined, options)) as Page<unknown>;
      });
    };
  }
  const hasBody = traits.includes("body");
  return async (...given) => {
    const body = hasBody ? given[parameters] : undefined;
    const options = given[hasBody ? parameters + 1 : parameters] as ConditionalWriteOptions | undefined;
    return ask(pathOf(template, given, undefined), body === undefined ? undefined : bodyOf(body), options);
  };
}

async function change<Result>(
  orders: OrdersOperations,
  order: string,
  apply: (order: Order, options: { ifMatch: number }) => Promise<Result>,
  options?: RequestOptions,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const known = await orders.get(order, options);
    try {
      return await apply(known, { ifMatch: known.resource_version });
    } catch (error) {
      const isConflict = error instanceof ApiError && error.code === "resource_version_conflict";
      if (!isConflict || attempt === CHANGES_MAX) throw error;
    }
  }
}
