// The name of the table that a store keeps its claims in.

import { checkOptions } from "../known-options.js";

/** The name that is used when none is given. */
export const TABLE = "webhook_claims";

/** Settings that the stores with a table share. */
export interface TableOptions {
  /**
   * The table's name, default `webhook_claims`: 1 to 48 of `a`–`z`, `0`–`9` and `_`, beginning with a letter. Receivers
   * that act on the same events independently of each other need a table each.
   */
  table?: string | undefined;
}

/** Checks a name, which becomes part of the statements and can therefore be nothing but a name. */
export function tableName(options: TableOptions): string {
  checkOptions(options, ["table"]);
  const { table = TABLE } = options;
  if (typeof table !== "string") throw new TypeError("table must be a string");
  if (!/^[a-z][a-z0-9_]{0,47}$/.test(table)) {
    throw new TypeError("table must be 1 to 48 of a-z, 0-9 and _, beginning with a letter");
  }
  return table;
}
