import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } from "@modelcontextprotocol/server";
import { isObject, parseJson } from "../../lib/json/json-values.ts";
import { about } from "../documents/about.ts";
import type { Reach } from "../keys/reach.ts";
import { BadArguments, type ToolCall, toolCallOf } from "./calls.ts";
import { historyCallOf, historyTemplate, mayReadHistory } from "./history.ts";
import { describeProblem, isTooLong, type ToolAnswer, tooLong, toolError, toolResultOf } from "./results.ts";
import { type OperationTool, toolsFor } from "./tools.ts";

/** Whom the server is for, and how it calls Herald: `call` makes a request with the key, and rejects only if there is no answer. */
export type ServerOptions = {
  tools: readonly OperationTool[];
  reach: Reach;
  call(request: ToolCall): Promise<ToolAnswer>;
};

/**
 * Creates an MCP server for one key. It lists what the key may call, and passes on what is called: whether it is permitted, Herald
 * decides for each request. This module loads the MCP SDK, so import it only when it is needed.
 */
export function createMcpServer({ tools, reach, call }: ServerOptions): Server {
  const server = new Server(
    { name: "herald", title: about.title, version: about.version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: instructionsFor(reach),
      cacheHints: { "tools/list": { ttlMs: 0, cacheScope: "private" } },
    },
  );
  const byName = new Map(tools.map((one) => [one.tool.name, one]));

  server.setRequestHandler("tools/list", () => ({ tools: toolsFor(tools, reach) }));
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: given = {} } }) => {
    const found = byName.get(name);
    if (found === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${name}`);
    try {
      const answer = await call(toolCallOf(found.operation, given));
      return toolResultOf(answer, found.tool.annotations.readOnlyHint);
    } catch (error) {
      if (error instanceof BadArguments) return toolError(error.message);
      throw error;
    }
  });
  server.setRequestHandler("resources/list", () => ({ resources: [] }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: mayReadHistory(reach) ? [historyTemplate] : [],
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const request = historyCallOf(uri);
    if (request === undefined) throw new ResourceNotFoundError(uri);
    const answer = await call(request);
    if (answer.status !== 200) throw refusalOf(uri, answer);
    if (isTooLong(answer.text)) throw new ProtocolError(ProtocolErrorCode.InternalError, tooLong(answer.text));
    return { contents: [{ uri, mimeType: historyTemplate.mimeType, text: answer.text }] };
  });
  return server;
}

function refusalOf(uri: string, answer: ToolAnswer): ProtocolError {
  const problem = parseJson(answer.text);
  const text = describeProblem(answer, isObject(problem) ? problem : {});
  if (answer.status === 404) return new ResourceNotFoundError(uri, text);
  const code = answer.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, text);
}

function instructionsFor({ org }: Reach): string {
  const bound =
    org === null ? [] : [`The key is bound to the organization ${JSON.stringify(org)}: name no other organization.`];
  return [
    about.introduction,
    about.retries,
    "Lists return a `cursor` for the next page. Messages reach people at once; ask the person you work for before you send, unless told otherwise.",
    ...bound,
  ].join(" ");
}
