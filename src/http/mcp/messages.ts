import type { Reach } from "../../contract/keys/reach.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import type { ToolCall } from "../../contract/mcp/calls.ts";
import type { ToolAnswer } from "../../contract/mcp/results.ts";

/** A request to `/mcp`, after Herald has identified its caller and read its body. */
export type McpRequest = { headers: [string, string][]; body: unknown; reach: Reach };

/** The response to it; without `text`, it has no body. */
export type McpResponse = { status: number; contentType: string | null; text: string };

/** What the thread needs to begin. */
export type ThreadStart = { limits: PayloadLimits };

/** What the node sends to the thread: a request, or the answer to a call that the thread has made. */
export type ToThread = { request: number; message: McpRequest } | { call: number; answer: ToolAnswer };

/** What the thread sends to the node: a call that it makes for a request, the response, or why there is none. */
export type FromThread = { request: number } & (
  | { call: number; wanted: ToolCall }
  | { response: McpResponse }
  | { failed: string }
);
