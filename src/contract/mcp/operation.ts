import { z } from "zod";
import { noQuery, type Operation } from "../operations/operation.ts";

/** How many JSON-RPC messages one request may hold, as clients of the revision 2025-03-26 may send several. */
const mostMessages = 100;

/**
 * The operation that speaks the Model Context Protocol (docs/decisions/platform/0086-mcp.md). It is not part of the documents, as
 * its body is JSON-RPC: the MCP SDK checks it, and the tools are the operations that are.
 */
export const mcpOperation = {
  operationId: "mcp",
  method: "post",
  path: "/mcp",
  tag: "Operation",
  summary: "Speak the Model Context Protocol",
  params: noQuery,
  query: noQuery,
  body: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()).max(mostMessages)]),
  bodyExample: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "getOwnKey", arguments: {} } },
  scope: "any",
  takesBearer: true,
  limitsItself: true, // each tool is a call of its own
  audit: "refused",
  workOf: (body) => (Array.isArray(body) ? Math.max(0, body.length - 1) : 0),
  answers: {},
  errors: ["origin_forbidden"],
} as const satisfies Operation;
