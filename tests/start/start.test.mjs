// `docs/start.md`, block by block: with Express as it is printed, and with each framework of its table, whose program is the
// one of the package's README.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { blocks } from "./document.mjs";
import { machine, TIMEOUT } from "./machine.mjs";

/** The demo's order, from its checkout to a test of the endpoint. */
const EVENTS = 17;
const PROGRAMS = ["orders.js", "receiver.js"];

test("every block of docs/start.md", { timeout: TIMEOUT }, async (t) => {
  const here = await machine(t);
  const document = here.document("docs/start.md");
  const others = frameworks(document.text);

  const authority = here.terminal("authority");
  await authority.until(/^Staying up; /m, authority.begin(document.commands()));
  assert.match(authority.output, document.shown());

  const project = document.commands();
  const server = here.terminal("server");
  await server.run(project);
  const programs = Object.fromEntries(PROGRAMS.map((name) => [name, document.program(name)]));
  programs["server.js"] = document.program("server.js");
  assert.equal(programs["server.js"], readmeProgram(here, "Express"), "Express is as in the package's README");
  for (const [name, text] of Object.entries(programs)) here.save(`shop/${name}`, text);
  const start = document.commands();
  const served = server.begin(start);
  await here.accepts(3000);

  const sessions = here.terminal("sessions");
  const first = document.commands();
  const ok = document.shown();
  const packed = document.shown();
  const again = document.commands();
  const duplicate = document.shown();
  await handlesOnce({ server, served, sessions, first, ok, packed, again, duplicate });

  await server.interrupt();
  for (const { name, packages } of others) {
    const folder = `shop-${packages[0] ?? "node"}`;
    const other = here.terminal(folder);
    await other.run(project.replaceAll("../shop", `../${folder}`).replace(/ express$/m, ["", ...packages].join(" ")));
    for (const file of PROGRAMS) here.save(`${folder}/${file}`, programs[file]);
    here.save(`${folder}/server.js`, readmeProgram(here, name));
    const from = other.begin(start);
    await here.accepts(3000);
    const beside = here.terminal(`${folder}-sessions`);
    await handlesOnce({ server: other, served: from, sessions: beside, first, ok, packed, again, duplicate });
    await other.interrupt();
  }

  server.begin("node server.js\n");
  await here.accepts(3000);
  here.save("shop/catch-up.js", document.program("catch-up.js"));
  const caughtUp = await sessions.run(document.commands());
  assert.match(caughtUp, document.shown());
  assert.equal(parcels(caughtUp).length, 1);
  assert.notDeepEqual(parcels(caughtUp), parcels(server.output));
  assert.deepEqual(parcels(await sessions.run("node catch-up.js")), [], "an event that is done is never done again");
  document.isDone();
  await server.interrupt();

  assert.equal(await authority.interrupt(), 0);
});

/** Every event is forwarded twice, and the order is handled once. */
async function handlesOnce({ server, served, sessions, first, ok, packed, again, duplicate }) {
  for (const [commands, expected, code] of [[first, ok, "ok"], [again, duplicate, "duplicate"]]) {
    const from = sessions.begin(commands);
    const answers = new RegExp(`(?:^.* POST .* -> 200 ${code} .*$\\n[^]*?){${EVENTS}}`, "m");
    assert.match(await sessions.until(answers, from), expected);
    assert.equal(await sessions.interrupt(), 0);
  }
  const shown = await server.until(packed, served);
  assert.equal(parcels(shown).length, 1);
}

const parcels = (shown) => shown.match(/^pack .+$/gm) ?? [];

/** The rows of the document's table that a folder of its own can be made of: the heading in the README, and what to install. */
function frameworks(text) {
  const rows = [...text.matchAll(/^\| [^|]+ \| (?<install>(?:`[^`]+`)?) ?\| \[(?<name>[^\]]+)\]\(\.\.\/pkg\/README\.md#\w+\) \|$/gm)];
  const found = rows.map(({ groups: { install, name } }) => ({ name, packages: install.replaceAll("`", "").split(" ").filter(Boolean) }));
  assert.deepEqual(found.map(({ name }) => name), ["Fastify", "Hono", "Koa", "node:http"]);
  return found;
}

/** The program below a heading of the package's README. */
function readmeProgram(here, heading) {
  const text = readFileSync(new URL("../../pkg/README.md", import.meta.url), "utf8");
  const [own] = text.split(`### ${heading}\n`)[1].split(/^##/m);
  const [program, ...more] = blocks(own).found.filter(({ language }) => language === "js");
  assert.deepEqual(more, []);
  return here.path(program.text);
}
