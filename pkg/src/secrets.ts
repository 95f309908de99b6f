// Takes the signing secrets as a receiver's configuration has them.

import { Secrets } from "./core.js";

/**
 * Hands the secrets to the core. Which of them are usable is the core's matter: a missing one (an environment
 * variable that is not set) goes in as an empty text, which no rule accepts. The caller frees the result.
 */
export function coreSecrets(secret: string | readonly string[]): Secrets {
  const list: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  const texts = Array.from(list, (text) => {
    if (text === undefined || text === null) return "";
    if (typeof text !== "string") throw new TypeError("a signing secret must be a string");
    return text;
  });
  const secrets = new Secrets();
  for (const text of texts) secrets.add(text);
  return secrets;
}
