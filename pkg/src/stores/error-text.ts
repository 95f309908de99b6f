// The text of an error, as a database can keep it.

/** PostgreSQL refuses texts with a NUL in them, and drivers of SQLite cut them off there. */
export function storable(error: string): string {
  return error.replaceAll("\0", "\uFFFD");
}
