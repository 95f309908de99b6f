// The adapter of NestJS, on both of its platforms.
//
// Decorators are calls here, because plain JavaScript has no syntax for them.

import "reflect-metadata";
import assert from "node:assert/strict";
import test from "node:test";
import { Body, Controller, HttpCode, Module, Post, Req, RequestMethod } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { rawBodyOf, toMiddleware, verified } from "verify-wasm/nest";
import { fulfilsTheContract } from "./contract.mjs";
import { deliver, eventText, send } from "./deliveries.mjs";
import { memory, options, receiverInto, verifier } from "./servers.mjs";

const platforms = [
  ["NestJS on Express", () => new ExpressAdapter()],
  ["NestJS on Fastify", () => new FastifyAdapter()],
];

/** A class with its methods, decorated as TypeScript would. */
function decorated(owner, classDecorator, methods) {
  for (const [key, decorators, parameters = []] of methods) {
    const descriptor = Object.getOwnPropertyDescriptor(owner.prototype, key);
    parameters.forEach((decorator, at) => decorator(owner.prototype, key, at));
    for (const decorator of decorators) decorator(owner.prototype, key, descriptor);
  }
  classDecorator(owner);
  return owner;
}

/** What another part of the application gets for a body. */
class Echo {
  echo(body) {
    return { body };
  }
}
decorated(Echo, Controller(), [["echo", [Post("echo")], [Body()]]]);

/** A controller that verifies by itself. */
class Webhooks {
  receive(request) {
    return verifier.verify(rawBodyOf(request), request.headers).type;
  }
}
decorated(Webhooks, Controller("controller"), [["receive", [Post(), HttpCode(200)], [Req()]]]);

/** The application, with a middleware for one path if one is given. */
function moduleWith(middleware) {
  class App {
    configure(consumer) {
      if (middleware === undefined) return;
      consumer.apply(middleware).forRoutes({ path: "webhooks", method: RequestMethod.ALL });
    }
  }
  return decorated(App, Module({ controllers: [Echo, Webhooks] }), []);
}

/** Starts the application; what Nest logs as an error is kept. */
async function serve({ platform, ofModule, ofApp, settings = {}, seen }) {
  const errors = [];
  const ignore = () => {};
  const logger = { log: ignore, warn: ignore, error: (...parts) => errors.push(parts.map(String).join(" ")) };
  const app = await NestFactory.create(moduleWith(ofModule), platform(), { logger, ...settings });
  if (ofApp !== undefined) app.use("/webhooks", ofApp);
  await app.listen(0, "127.0.0.1");
  const server = app.getHttpServer();
  const close = () => {
    server.closeAllConnections();
    return app.close();
  };
  return { port: server.address().port, path: "/webhooks", seen, errors, close };
}

function middlewareInto(form, { take }) {
  return form === "receiver" ? toMiddleware(receiverInto({ take })) : verified(verifier, (event) => take(event), options);
}

for (const [name, platform] of platforms) {
  fulfilsTheContract(`${name}, app.use`, (form) => {
    const remembered = memory();
    return serve({ platform, ofApp: middlewareInto(form, remembered), seen: remembered.seen });
  });

  test(`${name}: in a module, with rawBody: true`, async (t) => {
    const { take, seen } = memory();
    for (const form of ["receiver", "verified"]) {
      const ofModule = middlewareInto(form, { take });
      const server = await serve({ platform, ofModule, settings: { rawBody: true }, seen });
      t.after(() => server.close());
      const answer = await deliver(server, `${eventText("é")}\r\n`);
      assert.deepEqual([answer.status, answer.text], [200, '{"code":"ok"}']);
      const forged = await deliver(server, eventText(), { "Service-Timestamp": "1700000000" });
      assert.deepEqual([forged.status, forged.code], [401, "stale_timestamp"]);
    }
    assert.equal((await seen()).length, 2);
  });

  test(`${name}: a controller that verifies by itself`, async (t) => {
    const server = await serve({ platform, settings: { rawBody: true } });
    t.after(() => server.close());
    const controller = { ...server, path: "/controller" };
    const answer = await deliver(controller, eventText("é"));
    assert.deepEqual([answer.status, answer.text], [200, "order.confirmed"]);
    const forged = await deliver(controller, eventText(), { "Service-Signature": "v1=0" });
    const [code] = JSON.parse(forged.text).message.split(". ");
    assert.deepEqual([forged.status, code], [401, "webhook verification failed: invalid_signature"]);
  });

  test(`${name}: a controller without rawBody: true is told what to change`, async (t) => {
    const server = await serve({ platform });
    t.after(() => server.close());
    const answer = await deliver({ ...server, path: "/controller" }, eventText());
    assert.deepEqual([answer.status, JSON.parse(answer.text).message], [500, "Internal Server Error"]);
    assert.match(
      server.errors.join(),
      /RawBodyError: .*: request\.rawBody is not set\. Create the application with NestFactory\.create\(AppModule, { rawBody: true }\)\./,
    );
  });

  test(`${name}: what a handler throws is Nest's matter, and the rest of the application parses as ever`, async (t) => {
    const ofApp = verified(verifier, () => Promise.reject(new Error("no stock")));
    const server = await serve({ platform, ofApp });
    t.after(() => server.close());
    assert.equal((await deliver(server, eventText())).status, 500);
    assert.equal(server.errors.filter((line) => line.includes("no stock")).length, 1);
    const headers = { "Content-Type": "application/json" };
    const other = await send({ ...server, path: "/echo" }, { headers, body: '{"a":1}' });
    assert.deepEqual([other.status, other.text], [201, '{"body":{"a":1}}']);
  });
}

test("NestJS on Express: in a module without rawBody: true is an error that says what to change", async (t) => {
  const [[, platform]] = platforms;
  const { take, seen } = memory();
  for (const form of ["receiver", "verified"]) {
    const server = await serve({ platform, ofModule: middlewareInto(form, { take }) });
    t.after(() => server.close());
    const answer = await deliver(server, eventText());
    assert.deepEqual([answer.status, JSON.parse(answer.text).message], [500, "Internal Server Error"]);
    assert.match(
      server.errors.join(),
      /RawBodyError: .*: a body parser read and parsed it before this handler\. Nest's body parser came first\. Register the webhook in main\.ts with app\.use\(path, …\), or create the application with NestFactory\.create\(AppModule, { rawBody: true }\)\./,
    );
  }
  assert.deepEqual(await seen(), []);
});

test("NestJS on Fastify: in a module without rawBody: true the bytes are had", async (t) => {
  const [, [, platform]] = platforms;
  const server = await serve({ platform, ofModule: middlewareInto("receiver", memory()) });
  t.after(() => server.close());
  assert.equal((await deliver(server, `${eventText("é")}\r\n`)).code, "ok");
});
