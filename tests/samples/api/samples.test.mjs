// The samples of the OpenAPI documents do what they say: each is run as it is printed, but for its placeholders, against
// an authority in which its operation can be carried out. It makes the one request of its operation, gets the document's
// successful status, and prints an answer that is what the document promises. Where there is no such record it says so
// and fails.
//
// SAMPLE_LANGUAGES are the labels of the samples that are run (`cargo xtask test samples`: curl, the client and Python;
// `cargo xtask prove samples`: all), SAMPLE_BUILDS is where programs are written and compiled.

import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname } from "node:path";
import test, { after, before } from "node:test";
import { authority } from "../../openapi/authority.mjs";
import { checkAnswer, statusOf } from "./answers.mjs";
import { LANGUAGES } from "./languages.mjs";
import { kindsIn, samplesOf, withIds } from "./samples.mjs";
import { opened } from "./shop.mjs";
import { wire } from "./wire.mjs";

const { SAMPLE_LANGUAGES, SAMPLE_BUILDS } = process.env;
assert.ok(SAMPLE_LANGUAGES && SAMPLE_BUILDS, "run `cargo xtask test samples` or `cargo xtask prove samples`");

/** The variables with the keys. */
const KEYS = { merchant: "AUTHORITY_API_KEY", operator: "OPERATOR_KEY" };
/** A key that nobody has, and the samples that are also run with it. */
const NOBODY = `svc_test_${"a".repeat(49)}`;
const REFUSED = ["ordersGet", "refundsRequest", "ordersConfirm"];
/** The letters that a failure is told in. */
const SHOWN = 600;
let receiver;

before(async () => {
  // Refuses what it gets, or never answers.
  receiver = createServer((request, response) => {
    if (request.url === "/refuse") request.resume().on("end", () => response.writeHead(500).end());
  });
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
});

after(() => {
  receiver?.close();
  receiver?.closeAllConnections();
});

for (const label of SAMPLE_LANGUAGES.split(" ")) {
  test(label, async (t) => {
    const samples = samplesOf(label);
    const service = await authority("home", { AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS: "true" });
    t.after(() => service.end());
    const { run, end } = await programs(label, samples, service);
    t.after(() => end?.());
    await t.test("a refusal is shown, and is a failure", async () => {
      const refused = samples.filter(({ id }) => REFUSED.includes(id));
      assert.equal(refused.length, label === "verify-wasm/client" ? 2 : 4);
      for (const sample of refused) {
        const { code, stdout, stderr } = await observed({ ...sample, key: NOBODY }, run, service);
        assert.notEqual(code, 0, sample.id);
        assert.match(stdout + stderr, /invalid_api_key/, sample.id);
      }
    });
    await t.test(`${samples.length} samples succeed`, async () => {
      const wrong = [];
      for (const sample of samples) {
        await sample.ready();
        const seen = await observed(sample, run, service);
        try {
          check(sample, seen, label === "verify-wasm/client");
        } catch (error) {
          const told = `${error.message} | ${seen.stderr} | ${seen.stdout}`;
          wrong.push(`${sample.document} ${sample.id}: ${told.replaceAll("\n", " ").slice(0, SHOWN)}`);
        }
      }
      assert.ok(wrong.length === 0, `\n${wrong.join("\n")}`);
    });
  });
}

/** Writes every program with the ids of a shop of its own, and builds them. */
async function programs(label, samples, service) {
  const { file, prepare, start, run } = LANGUAGES[label];
  const folder = `${SAMPLE_BUILDS}/${label.replace("/", "-")}`;
  rmSync(folder, { recursive: true, force: true });
  const origin = `http://127.0.0.1:${receiver.address().port}`;
  for (const sample of samples) {
    Object.assign(sample, await opened(service, origin, sample, kindsIn(sample.source)));
    sample.file = `${folder}/${sample.document}/${sample.id}/${file(sample.source)}`;
    mkdirSync(dirname(sample.file), { recursive: true });
    writeFileSync(sample.file, withIds(sample.source, sample.records));
  }
  prepare?.(folder, samples.map((sample) => sample.file));
  return start ? start() : { run };
}

/** Runs a program, and tells what it printed and what it asked for. */
async function observed({ document, file, key }, run, service) {
  const between = await wire(document === "merchant" ? service.merchantApi : service.operatorApi);
  const ended = await run(file, { API_URL: between.url, [KEYS[document]]: key });
  return { ...ended, requests: between.end() };
}

/** The one request that the operation is, the status of its success, the promised answer. The client reads all pages. */
function check(sample, { code, stdout, stderr, requests }, isClient) {
  assert.ok(code === 0 && stderr === "", `ended with ${code}`);
  const { operation, key, records } = sample;
  const takes = (name) => operation.parameters.some((parameter) => parameter.$ref?.endsWith(`/${name}`));
  const [{ method, path, headers, body, status }, ...further] = requests;
  assert.equal(status, statusOf(sample));
  assert.ok(further.length === 0 || isClient && takes("Cursor"), `${requests.length} requests`);
  for (const next of further) assert.deepEqual([next.path.split("?cursor=")[0], next.status], [path, status]);
  assert.equal(method, sample.method.toUpperCase());
  const template = sample.path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/?]+");
  assert.match(path, new RegExp(`^${template}(\\?limit=10)?$`));
  assert.equal(headers.authorization, operation.security.length === 0 ? undefined : `Bearer ${key}`);
  assert.equal("idempotency-key" in headers, takes("Idempotency-Key"));
  const example = operation.requestBody?.content["application/json"].example;
  const isLeftOut = JSON.stringify(example) === "{}";
  assert.equal(body === "", example === undefined || isLeftOut, body);
  if (body !== "") {
    assert.equal(headers["content-type"], "application/json");
    assert.deepEqual(JSON.parse(body), JSON.parse(withIds(JSON.stringify(example), records)));
  }
  checkAnswer(sample, stdout, isClient);
}
