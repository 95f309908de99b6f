// A list: its items one after the other, or its pages. One page is held at a time, and the next is asked for when the
// items of the last one are used up.

/** One page of a list. */
export interface Page<Item> {
  /** The items. */
  readonly data: Item[];
  /** Where the next page begins; absent on the last one. */
  readonly next_cursor?: string;
  /** Of events and changed orders: the position after the last item, on every page. */
  readonly resume_cursor?: string;
}

/**
 * A list that is asked for when it is read. Each loop over it begins at the start again.
 *
 * @example
 * ```ts
 * for await (const order of client.orders.list({ status: "confirmed" })) console.log(order.order_number);
 * ```
 */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #ask: (cursor: string | undefined) => Promise<Page<Item>>;

  /** Made by the client. */
  constructor(ask: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#ask = ask;
  }

  /** The first page alone, or that of the filter's `cursor`. */
  first(): Promise<Page<Item>> {
    return this.#ask(undefined);
  }

  /** Page by page, with their cursors. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page: Page<Item> = await this.#ask(cursor);
      yield page;
      cursor = page.next_cursor;
    } while (cursor);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}
