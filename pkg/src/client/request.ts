// What a call's arguments become: a path, a query, a body. A value that a program forgot to set is refused here, because
// leaving it out would ask for something else: a refund of everything, a list of all customers' orders.

/**
 * The path with its parameters filled in, and the query.
 *
 * @throws {TypeError} a parameter is no text, or one that changes the path; a value of the filter is missing
 */
export function pathOf(template: string, parameters: readonly unknown[], filter: object | undefined): string {
  let index = 0;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[index];
    index += 1;
    if (typeof value !== "string" || value === "" || value === "." || value === "..") {
      throw new TypeError(`${name} must be a text that names one`);
    }
    return encodeURIComponent(value);
  });
  const query = filter === undefined ? "" : queryOf(filter);
  return query === "" ? path : `${path}?${query}`;
}

function queryOf(filter: object): string {
  checkForm(filter, "filter");
  const parts: string[] = [];
  for (const [name, value] of Object.entries(filter)) {
    const mayBeAbsent = name === "cursor" || name === "limit";
    if (mayBeAbsent && (value === undefined || value === null || value === "")) continue;
    if (Array.isArray(value) && value.length === 0) throw new TypeError(`${name} must have at least one value`);
    const values: unknown[] = Array.isArray(value) ? value : [value];
    parts.push(`${encodeURIComponent(name)}=${values.map((one) => queryValue(name, one)).join(",")}`);
  }
  return parts.join("&");
}

function queryValue(name: string, value: unknown): string {
  if (value instanceof Date) return encodeURIComponent(value.toISOString());
  if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) {
    return encodeURIComponent(String(value));
  }
  throw new TypeError(`${name} is ${String(value)}: leave it out, or give it a value`);
}

/**
 * The body as JSON.
 *
 * @throws {TypeError} it is no object, or has a value that JSON would leave out or change
 */
export function bodyOf(given: unknown): string {
  const body = jsonOf(given);
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new TypeError("body must be an object");
  checkValue(body, "");
  return JSON.stringify(body);
}

/** What is sent of it; a Date is judged as itself, since an invalid one says `null`. */
function jsonOf(value: unknown): unknown {
  const { toJSON } = Object(value) as { toJSON?: unknown };
  return typeof toJSON === "function" && !(value instanceof Date) ? toJSON.call(value) : value;
}

function checkValue(value: unknown, pointer: string): void {
  if (value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return;
  if (typeof value !== "object" || (value instanceof Date && Number.isNaN(value.getTime()))) {
    throw new TypeError(`${pointer} is ${String(value)}: leave it out, or give it a value`);
  }
  checkForm(value, pointer);
  for (const [name, member] of Object.entries(value)) checkValue(jsonOf(member), `${pointer}/${name}`);
}

/** Refuses a Map and the like: it has no members of its own, and would be sent as an empty object. */
function checkForm(value: object, name: string): void {
  const form = Object.prototype.toString.call(value);
  if (/ (Object|Array|Date)\]$/.test(form)) return;
  throw new TypeError(`${name || "body"} is ${form}: give it a plain object`);
}
