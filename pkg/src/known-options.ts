// Objects of settings: what is none is refused, and so is a setting that does not exist, because a misspelt one would be
// passed over in silence and leave the default in force.

/**
 * Refuses anything but an object whose own members are among `names`.
 *
 * @throws {TypeError}
 */
export function checkOptions(options: unknown, names: readonly string[]): void {
  if (typeof options !== "object" || options === null) throw new TypeError("options must be an object");
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const known = names.length === 1 ? `the only one is ${names[0]}` : `there are ${names.join(", ")}`;
    throw new TypeError(`unknown option ${name}: ${known}`);
  }
}
