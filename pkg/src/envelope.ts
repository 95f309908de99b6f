// The envelope of a verified delivery: its fields now, its event on demand.

import { asciiText, bytes, places, utf8Text } from "./core.js";
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
const NUMBERS = 8;

const API_VERSION_CHARACTERS = 10;
const CREATED_AT_CHARACTERS = 24;

let numbers = new Float64Array(0);

/** Takes the fields that the core has just read, beside the verified text. */
export function takeEnvelope(text: string): Envelope {
  if (numbers.buffer !== bytes().buffer) numbers = new Float64Array(bytes().buffer, places.numbers, NUMBERS);
  const number = (index: number) => numbers[index] as number;
  const length = number(LENGTH);
  const livemode = number(LIVEMODE);
  // One text, cut where the core says: only the last field, the slug, can have characters of more than one byte.
  const fields = number(ASCII) === 1 ? asciiText(places.exchange, length) : utf8Text(places.exchange, length);
  const typeAt = number(ID_LENGTH);
  const apiVersionAt = typeAt + number(TYPE_LENGTH);
  const createdAtAt = apiVersionAt + API_VERSION_CHARACTERS;
  const merchantIdAt = createdAtAt + CREATED_AT_CHARACTERS;
  const slugAt = merchantIdAt + number(MERCHANT_ID_LENGTH);
  let event: WebhookEvent | undefined;
  return {
    id: fields.slice(0, typeAt),
    type: fields.slice(typeAt, apiVersionAt),
    apiVersion: fields.slice(apiVersionAt, createdAtAt),
    createdAt: fields.slice(createdAtAt, merchantIdAt),
    sequence: integer(number(SEQUENCE)),
    resourceVersion: integer(number(RESOURCE_VERSION)),
    livemode: livemode === 0 ? null : livemode === 2,
    merchant: { id: fields.slice(merchantIdAt, slugAt), slug: fields.slice(slugAt) },
    get event() {
      event ??= JSON.parse(text) as WebhookEvent;
      return event;
    },
  };
}

/** An absent integer is not a number. */
function integer(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
