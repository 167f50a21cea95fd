import type { z } from "zod";
import type { Operation } from "../../contract/operations/operation.ts";
import { validate } from "../../contract/requests.ts";
import { threadCosts } from "../../services/limits/costs.ts";
import { readJsonBody, requireNoEncoding } from "../requests/body.ts";
import { listsOf, readQuery } from "../requests/query.ts";
import type { Exchange, PathParts } from "./exchange.ts";
import type { BodyOf, Input } from "./handler.ts";

/**
 * Creates the reader of an operation's input, which validates the path, the query and the body, in this order. Throws and
 * rejects with the contract's errors. Waits only for a body, and for a turn of the thread.
 */
export function createInputReader<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType | undefined,
>(operation: Operation<Params, Query, Body>, { charges, takeTurn, longBodies, limits }: PathParts) {
  type Read = Input<Params, Query, Body>;
  const { path, params, query, body: schema, scope, workOf } = operation;
  const noParams = path.includes("{") ? undefined : validate(params, {});
  const noQuery = query.safeParse({});
  const lists = listsOf(query);
  const takesBody = schema !== undefined || operation.lines !== undefined || operation.takesBytes === true;

  function readHead(exchange: Exchange): Read {
    const { url, headers } = exchange.request;
    if (takesBody) requireNoEncoding(headers);
    return {
      caller: exchange.caller,
      params: noParams ?? validate(params, exchange.params()),
      query: noQuery.success && !url.includes("?") ? noQuery.data : validate(query, readQuery(url, lists)),
      headers,
      body: undefined as BodyOf<Body>, // so far
    };
  }

  function readBody(exchange: Exchange, schema: z.ZodType): Promise<Read> {
    const input = readHead(exchange);
    const { request, call, charge, caller } = exchange;
    return readJsonBody(request, {
      maxBytes: limits.requestBytes,
      maxDepth: limits.jsonDepth,
      isOptional: operation.isBodyOptional === true,
      onLength(bytes) {
        call.isBodyRead = bytes <= limits.requestBytes;
        charges.addBody(charge, bytes);
      },
      check(value) {
        input.body = validate(schema, value) as BodyOf<Body>;
        charges.addWork(charge, workOf?.(input.body) ?? 0);
        return input;
      },
      nextPart: async () => await takeTurn(exchange, threadCosts.slice),
      turn: (bytes) => takeTurn(exchange, threadCosts.request(bytes.length), bytes),
      alone: (read) =>
        longBodies.add({ of: caller.keyId }, async () => {
          charges.admitAgain(charge);
          await takeTurn(exchange, threadCosts.slice);
          return await read();
        }),
    });
  }

  return (exchange: Exchange): Read | Promise<Read> => {
    if (schema !== undefined) return readBody(exchange, schema);
    const turn = scope === undefined ? undefined : takeTurn(exchange, threadCosts.request());
    return turn === undefined ? readHead(exchange) : turn.then(() => readHead(exchange));
  };
}
