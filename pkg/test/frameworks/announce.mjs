// Loaded before a program of the README: the port that is printed there becomes a free one, and is told to the test.

import { Server } from "node:net";

const { listen } = Server.prototype;

Server.prototype.listen = function (...words) {
  this.once("listening", () => console.log(`listening on ${this.address().port}`));
  const [first, ...rest] = words;
  if (first === 3000) return listen.call(this, 0, ...rest);
  if (first?.port === 3000) return listen.call(this, { ...first, port: 0 }, ...rest);
  return listen.call(this, ...words);
};
