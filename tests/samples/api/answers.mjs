// Whether an answer is what the document promises: its status, and its body by the document's own schema.

import assert from "node:assert/strict";
import Ajv from "ajv/dist/2020.js";
import { DOCUMENTS } from "./samples.mjs";

// What the documents say besides JSON Schema is no business of the validator; formats are checked where they are made.
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
for (const [name, document] of Object.entries(DOCUMENTS)) ajv.addSchema(document, `${name}.json`);

/** Operations with two successful statuses, and the one of a first, ordinary request. */
const STATUS = { endpointsRecover: 202, paymentsStart: 201 };

/** The status of success. */
export function statusOf({ id, operation }) {
  const granted = Object.keys(operation.responses).filter((status) => status.startsWith("2"));
  const status = STATUS[id] ?? Number(granted[0]);
  assert.ok(granted.length === 1 || id in STATUS, `${id} has several successful statuses: say which is meant`);
  return status;
}

/** Checks what a sample printed. The client prints the items of a list, one per line. */
export function checkAnswer({ document, path, method, operation, id }, printed, isItems) {
  const status = statusOf({ id, operation });
  const { content } = operation.responses[status];
  if (!("application/json" in content)) return assert.ok(printed.trim().length > 0, "nothing was printed");
  const pointer = ["paths", path, method, "responses", status, "content", "application/json", "schema"];
  const schema = `${document}.json#/${pointer.map((part) => encodeURIComponent(escaped(part))).join("/")}`;
  const isList = operation.responses[status].content["application/json"].schema.properties?.data !== undefined;
  let answers = [printed];
  let reference = schema;
  if (isItems && isList) {
    answers = printed.trim().split("\n");
    reference = `${schema}/properties/data/items`;
  }
  const validate = ajv.getSchema(reference) ?? ajv.compile({ $ref: reference });
  for (const answer of answers) {
    const value = JSON.parse(answer);
    assert.ok(validate(value), `${ajv.errorsText(validate.errors)}: ${answer.slice(0, 400)}`);
    if (isList && !isItems) assert.ok(value.data.length > 0, "the list is empty");
  }
}

function escaped(part) {
  return String(part).replaceAll("~", "~0").replaceAll("/", "~1");
}
