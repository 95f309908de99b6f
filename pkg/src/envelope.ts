// The envelope of a verified delivery: its fields now, its event on demand.

import { asciiText, bytes, numbers, places, utf8Text } from "./core.js";
import type { Envelope, WebhookEvent } from "./types.js";

/** What the core writes to its numbers, in this order. */
const SEQUENCE = 0;
const RESOURCE_VERSION = 1;
const LIVEMODE = 2;
const ID_LENGTH = 3;
const TYPE_LENGTH = 4;
const MERCHANT_ID_LENGTH = 5;
const LENGTH = 6;
const ASCII = 7;

const API_VERSION_CHARACTERS = 10;
const CREATED_AT_CHARACTERS = 24;

/** The fields are the object's own; `event` belongs to the class, which makes such an object four times as fast. */
class VerifiedEnvelope implements Envelope {
  readonly #text: string;
  #event: WebhookEvent | undefined;
  readonly id: string;
  readonly type: string;
  readonly apiVersion: string;
  readonly createdAt: string;
  readonly sequence: number | null;
  readonly resourceVersion: number | null;
  readonly livemode: boolean | null;
  readonly merchant: { readonly id: string; readonly slug: string };

  constructor(fields: string, text: string) {
    const typeAt = number(ID_LENGTH);
    const apiVersionAt = typeAt + number(TYPE_LENGTH);
    const createdAtAt = apiVersionAt + API_VERSION_CHARACTERS;
    const merchantIdAt = createdAtAt + CREATED_AT_CHARACTERS;
    const slugAt = merchantIdAt + number(MERCHANT_ID_LENGTH);
    const livemode = number(LIVEMODE);
    this.#text = text;
    this.id = fields.slice(0, typeAt);
    this.type = fields.slice(typeAt, apiVersionAt);
    this.apiVersion = fields.slice(apiVersionAt, createdAtAt);
    this.createdAt = fields.slice(createdAtAt, merchantIdAt);
    this.sequence = integer(SEQUENCE);
    this.resourceVersion = integer(RESOURCE_VERSION);
    this.livemode = livemode === 0 ? null : livemode === 2;
    this.merchant = { id: fields.slice(merchantIdAt, slugAt), slug: fields.slice(slugAt) };
  }

  get event(): WebhookEvent {
    this.#event ??= JSON.parse(this.#text) as WebhookEvent;
    return this.#event;
  }
}

/** Takes the fields that the core has just read, beside the verified text. */
export function takeEnvelope(text: string): Envelope {
  bytes(); // which looks whether the memory has moved
  const length = number(LENGTH);
  // One text, cut where the core says: only the last field, the slug, can have characters of more than one byte.
  const fields = number(ASCII) === 1 ? asciiText(places.exchange, length) : utf8Text(places.exchange, length);
  return new VerifiedEnvelope(fields, text);
}

function number(index: number): number {
  return numbers[index] as number;
}

/** An absent integer is not a number. */
function integer(index: number): number | null {
  const value = number(index);
  return Number.isNaN(value) ? null : value;
}
