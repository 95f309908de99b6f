// The receiver's side: a `Verifier` is made once, from the trusted secrets, and judges every delivery.
//
// The core judges bytes and headers and answers with a number; this file turns that into an event, an error or
// an envelope. The event is built by `JSON.parse`, and only after the core has accepted the text.

import {
  BESIDE_PARSER,
  DIGESTS_GIVEN,
  FIELDS_WANTED,
  HEADERS_ONLY,
  VALID,
  VALID_ASCII,
  abandon,
  asciiText,
  asciiTextInParts,
  codeEntry,
  core,
  places,
  shrink,
} from "./core.js";
import { type Delivery, type Request, bodyText, refusedLength, requestOf, write } from "./delivery.js";
import { takeEnvelope } from "./envelope.js";
import { VerificationError } from "./error.js";
import { explainDelivery } from "./explain.js";
import { hostDigestPays, leaveHostDigests } from "./host-digest.js";
import { checkOptions } from "./known-options.js";
import { ownExplainer } from "./own-explainer.js";
import { type Profile, SERVICE, profileOf } from "./profiles.js";
import { type PreparedSecrets, prepareSecrets, putInPlace, secretTexts, warnUnlessUsable } from "./secrets.js";
import type {
  CheckResult,
  Envelope,
  ExplainOptions,
  Explanation,
  RawBody,
  RequestHeaders,
  VerifierOptions,
  WebhookEvent,
} from "./types.js";

const TOLERANCE_SECONDS = 300;
const BODY_BYTES = 16 << 20;
const OPTIONS = ["profile", "toleranceSeconds", "maxBodyBytes", "now"];
/** The number of the first code that speaks of the text itself: `invalid_json` (contract 10.2). */
const INVALID_JSON = 7;

/** Verifies deliveries against one or more trusted signing secrets. */
export class Verifier {
  /** Said here because bundlers shorten names. */
  static readonly name: string = "Verifier";
  readonly #secrets: PreparedSecrets;
  /** As configured, for `explain` alone. */
  readonly #secretTexts: readonly string[];
  readonly #profile: Profile;
  readonly #toleranceSeconds: number;
  readonly #maxBodyBytes: number;
  readonly #now: () => number;

  /**
   * @param secret The signing secret, or up to eight of them during a rotation. A missing or unusable secret does
   *   not throw here: every delivery is then answered with `invalid_secret`, so that the receiver logs why. The
   *   console is told of it once.
   * @throws {TypeError} an argument has the wrong type, or there is no such option
   * @throws {RangeError} more than eight secrets, a tolerance outside 1 to 3600, or a bound outside 1 to 268,435,456
   */
  constructor(secret: string | readonly string[], options: VerifierOptions = {}) {
    checkOptions(options, OPTIONS);
    const { profile = "service", toleranceSeconds = TOLERANCE_SECONDS, maxBodyBytes = BODY_BYTES, now = Date.now } = options;
    this.#profile = profileOf(profile);
    if (typeof toleranceSeconds !== "number") throw new TypeError("toleranceSeconds must be a number");
    if (typeof maxBodyBytes !== "number") throw new TypeError("maxBodyBytes must be a number");
    if (typeof now !== "function") throw new TypeError("now must be a function that returns Unix milliseconds");
    if (!Number.isInteger(toleranceSeconds)) throw new RangeError("toleranceSeconds must be a whole number");
    if (!Number.isInteger(maxBodyBytes)) throw new RangeError("maxBodyBytes must be a whole number");
    this.#now = now;
    this.#toleranceSeconds = toleranceSeconds;
    this.#maxBodyBytes = maxBodyBytes;
    const texts = secretTexts(secret);
    const refusal = core.configure(texts.length, toleranceSeconds, maxBodyBytes);
    if (refusal > 0) throw new RangeError(asciiText(places.exchange, refusal));
    this.#secrets = prepareSecrets(texts, this.#profile);
    warnUnlessUsable(this.#secrets, texts, this.#profile);
    this.#secretTexts = texts;
  }

  /**
   * Returns the event of a valid delivery.
   *
   * @param body The raw body, before any parsing.
   * @throws {VerificationError} the delivery is refused; `code` says why
   * @throws {TypeError} the body or the headers have a form that cannot be a request's
   */
  verify(body: RawBody, headers: RequestHeaders): WebhookEvent {
    const result = this.#event(body, headers);
    if (typeof result === "number") throw new VerificationError(codeEntry(result).code);
    return result;
  }

  /** Like `verify`, but a refused delivery is returned as its code. */
  check(body: RawBody, headers: RequestHeaders): CheckResult {
    const result = this.#event(body, headers);
    if (typeof result === "number") return { ok: false, code: codeEntry(result).code };
    return { ok: true, event: result };
  }

  /**
   * Like `verify`, with every rule checked, but the event is not built until its first use. For receivers that
   * claim the id first and read later.
   *
   * @throws {VerificationError} the delivery is refused; `code` says why
   * @throws {TypeError} the body or the headers have a form that cannot be a request's
   */
  verifyEnvelope(body: RawBody, headers: RequestHeaders): Envelope {
    const result = this.#envelope(body, headers);
    if (typeof result === "number") throw new VerificationError(codeEntry(result).code);
    return result;
  }

  /** The event, or the number of the code that it is refused with. */
  #event(body: RawBody, headers: RequestHeaders): WebhookEvent | number {
    const now = this.#seconds();
    const request = requestOf(body, headers, this.#profile.headers);
    const refused = refusedLength(request, this.#maxBodyBytes);
    if (refused !== 0) return refused;
    try {
      return this.#parsed(request, now);
    } catch (error) {
      abandon();
      throw error;
    } finally {
      shrink();
    }
  }

  #parsed(request: Request, now: number): WebhookEvent | number {
    const delivery = write(request);
    let verdict = this.#judge(delivery, now, BESIDE_PARSER);
    if (isValid(verdict)) {
      try {
        return parsed(request, delivery, verdict);
      } catch {
        // The core left the grammar to the parser, which has found a fault: the core has to say which.
        verdict = this.#judge(delivery, now, 0);
      }
    } else if (verdict >= INVALID_JSON) {
      // What a text is refused with when it is looked at beside a parser is not the last word.
      verdict = this.#judge(delivery, now, 0);
    }
    return isValid(verdict) ? parsed(request, delivery, verdict) : verdict;
  }

  /** The envelope, or the number of the code that it is refused with. */
  #envelope(body: RawBody, headers: RequestHeaders): Envelope | number {
    const now = this.#seconds();
    const request = requestOf(body, headers, this.#profile.headers);
    const refused = refusedLength(request, this.#maxBodyBytes);
    if (refused !== 0) return refused;
    try {
      const delivery = write(request);
      const verdict = this.#judge(delivery, now, FIELDS_WANTED);
      return isValid(verdict) ? takeEnvelope(textOf(request, delivery, verdict, asciiTextInParts)) : verdict;
    } catch (error) {
      abandon();
      throw error;
    } finally {
      shrink();
    }
  }

  /**
   * Says why a delivery is refused: the code that `check` answers, and likely causes, each with what was seen and what
   * to do. For you while you develop, in a test, a log or a debugger; never send it to whoever sent the request. It
   * takes much longer than `verify`, and holds nothing of a secret or of an expected signature. A bundle has it only with
   * `import "verify-wasm/explain"`; a program that is not bundled needs no such import.
   *
   * @param body The body as your receiver has it.
   * @param headers The request's headers, all of them: others than the three show what a proxy did.
   * @throws {TypeError} an argument has the wrong type
   * @throws {RangeError} more than eight secrets for comparison, or a delivery too large for the module's memory
   * @throws {Error} in a bundle that does not import `verify-wasm/explain`; by a verifier whose profile is not `service`,
   *   because causes are known for that one alone
   */
  explain(body: RawBody, headers: RequestHeaders, options: ExplainOptions = {}): Explanation {
    if (this.#profile !== SERVICE) {
      throw new Error("explain knows the causes of the profile service alone: the same delivery has Service-* headers too");
    }
    const now = this.#seconds();
    const trust = {
      secrets: this.#secretTexts,
      toleranceSeconds: this.#toleranceSeconds,
      maxBodyBytes: this.#maxBodyBytes,
      loader: ownExplainer,
    };
    return explainDelivery(body, headers, options, trust, now);
  }

  /** Asks the core about the delivery in its memory. The digest is the host's where that is faster. */
  #judge(delivery: Delivery, now: number, mode: number): number {
    const secrets = this.#secrets;
    putInPlace(secrets);
    if (!this.#profile.hostDigests || !hostDigestPays(delivery.body)) return this.#ask(delivery, now, mode);
    const verdict = this.#ask(delivery, now, HEADERS_ONLY);
    if (verdict !== VALID) return verdict;
    leaveHostDigests(secrets, delivery.body);
    return this.#ask(delivery, now, mode | DIGESTS_GIVEN);
  }

  #ask({ timestamp, signature, eventId, body }: Delivery, now: number, mode: number): number {
    const { count } = this.#secrets;
    const modes = mode | this.#profile.mode;
    return core.verify(timestamp, signature, eventId, body, count, this.#toleranceSeconds, now, modes);
  }

  /** Asked before the delivery is written: a caller's function must not run while the core's memory holds one. */
  #seconds(): number {
    const now = this.#now();
    if (!Number.isFinite(now)) throw new TypeError("now must return Unix milliseconds");
    return Math.floor(now / 1000);
  }
}

function isValid(verdict: number): boolean {
  return verdict === VALID || verdict === VALID_ASCII;
}

function parsed(request: Request, delivery: Delivery, verdict: number): WebhookEvent {
  return JSON.parse(textOf(request, delivery, verdict)) as WebhookEvent;
}

function textOf({ content }: Request, delivery: Delivery, verdict: number, read?: typeof asciiText): string {
  return bodyText(content, delivery.body, verdict === VALID_ASCII, read);
}
