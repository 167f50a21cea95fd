import type { z } from "zod";
import type { Operation } from "../../contract/operations/operation.ts";
import { parseStrictJson, parseStrictJsonInTurns, validate } from "../../contract/requests.ts";
import type { Caller } from "../../services/keys/permissions.ts";
import { threadCosts } from "../../services/limits/costs.ts";
import { createBytesReader, incomplete, requireJson, requireNoEncoding } from "../requests/body.ts";
import { isOfLines } from "../requests/lines.ts";
import { listsOf, readQuery } from "../requests/query.ts";
import type { Exchange, PathParts } from "./exchange.ts";

/** The validated input of a handler. */
export type Input<Of extends Operation> = {
  /** The caller; `nobody` if the operation takes no key. */
  caller: Caller;
  params: z.output<Of["params"]>;
  query: z.output<Of["query"]>;
  /** `undefined` if the operation takes none, or gets lines instead. */
  body:
    | (Of["body"] extends z.ZodType ? z.output<Of["body"]> : undefined)
    | (Of["lines"] extends z.ZodType ? undefined : never);
  /** The headers of the request, unchanged. */
  headers: Headers;
};

const longBytes = 64 * 1024;

/**
 * Creates the reader of an operation's input, which validates the path, the query and the body, in this order. Throws and
 * rejects with the contract's errors. Waits only for a body, and for a turn of the thread.
 */
export function createInputReader<Of extends Operation>(
  operation: Of,
  { charges, takeTurn, longBodies, limits }: PathParts,
) {
  type Read = Input<Of>;
  const { path, body: schema, scope, workOf, isBodyOptional = false } = operation;
  const params: Of["params"] = operation.params;
  const query: Of["query"] = operation.query;
  const noParams = path.includes("{") ? undefined : validate(params, {});
  const noQuery = query.safeParse({});
  const lists = listsOf(query);
  const readBytes = createBytesReader<Exchange>({
    maxBytes: limits.requestBytes,
    onLength({ call, charge }, bytes) {
      call.isBodyRead = bytes <= limits.requestBytes;
      charges.addBody(charge, bytes);
    },
    turn: (exchange, bytes) => takeTurn(exchange, threadCosts.request(bytes.length), bytes),
  });
  const takesBody = schema !== undefined || operation.lines !== undefined || operation.takesBytes === true;

  function readHead(exchange: Exchange): Read {
    const { url, headers } = exchange.request;
    if (takesBody) requireNoEncoding(headers);
    return {
      caller: exchange.caller,
      params: noParams ?? validate(params, exchange.req.param()),
      query: noQuery.success && !url.includes("?") ? noQuery.data : validate(query, readQuery(url, lists)),
      headers,
      body: undefined as Read["body"], // so far
    };
  }

  /** Validates the value of a body, which completes the input. */
  function accept(exchange: Exchange, input: Read, schema: z.ZodType, value: unknown): Read {
    input.body = validate(schema, value) as Read["body"];
    if (workOf !== undefined) charges.addWork(exchange.charge, workOf(input.body));
    return input;
  }

  /** Reads JSON without altering it. A long body is read in many short turns of the event loop. */
  async function readBody(exchange: Exchange, schema: z.ZodType): Promise<Read> {
    const input = readHead(exchange);
    let bytes: Uint8Array;
    try {
      bytes = await readBytes(exchange.request, exchange.call.bodyBytes, exchange);
    } catch (cause) {
      throw incomplete(cause);
    }
    const isLong = bytes.length > longBytes;
    const turn = isLong ? undefined : takeTurn(exchange, threadCosts.request(bytes.length), bytes);
    if (turn !== undefined) await turn;
    if (isBodyOptional && bytes.length === 0) return accept(exchange, input, schema, {});
    requireJson(input.headers.get("content-type"));
    if (!isLong) return accept(exchange, input, schema, parseStrictJson(bytes, limits.jsonDepth));
    return await longBodies.add({ of: exchange.caller.keyId }, async () => {
      const nextPart = async () => await takeTurn(exchange, threadCosts.slice);
      charges.admitAgain(exchange.charge);
      await nextPart();
      const value = await parseStrictJsonInTurns(bytes, limits.jsonDepth, nextPart);
      await nextPart();
      return accept(exchange, input, schema, value);
    });
  }

  return (exchange: Exchange): Read | Promise<Read> => {
    const isLines = operation.lines !== undefined && isOfLines(exchange.request.headers.get("content-type"));
    if (schema !== undefined && !isLines) return readBody(exchange, schema);
    const turn = scope === undefined ? undefined : takeTurn(exchange, threadCosts.request());
    return turn === undefined ? readHead(exchange) : turn.then(() => readHead(exchange));
  };
}
