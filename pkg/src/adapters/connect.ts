// Handlers of the form (request, response, next), as Express and NestJS have them.

import type { Endpoint } from "./endpoint.js";
import { type NodeResponse, exchange, writeOk } from "./node-exchange.js";
import type { NodeRequest } from "./node-request.js";

/** Goes on to what comes behind this handler, or reports an error. */
export type Next = (error?: any) => void;

/** A request handler. It returns at once; errors go to `next`. */
export type ConnectHandler<Request, Response> = (request: Request, response: Response, next: Next) => void;

/** The handler of an endpoint; `advice` says what to change when the raw body is gone. */
export function connectHandler<Request extends NodeRequest, Response extends NodeResponse>(
  endpoint: Endpoint<[Request, Response, Next]>,
  advice: string,
): ConnectHandler<Request, Response> {
  return (request, response, next) => {
    let passedOn = false;
    const passOn: Next = (error) => {
      passedOn = true;
      next(error);
    };
    exchange(endpoint, request, response, advice, request, response, passOn).then((answered) => {
      if (!answered && !passedOn) writeOk(response);
    }, next);
  };
}
