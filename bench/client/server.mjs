// Answers every request with the same bytes: an order, a page of 25, a refund, from the examples of the API's document.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const document = JSON.parse(readFileSync(new URL("../../docs/openapi/merchant.json", import.meta.url), "utf8"));
const example = (path, method, status) =>
  document.paths[path][method].responses[status].content["application/json"].example;
const order = example("/v1/merchant/orders/{order}", "get", 200);
const refund = example("/v1/merchant/orders/{order}/refunds", "post", 201);
const page = { object: "list", data: Array.from({ length: 25 }, () => order), has_more: false };
const bytes = (body) => Buffer.from(JSON.stringify(body));
const [one, many, made] = [bytes(order), bytes(page), bytes(refund)];

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    const body = request.method === "POST" ? made : request.url.includes("limit=") ? many : one;
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
