// The thread that speaks the Model Context Protocol for a node.
import { parentPort, workerData } from "node:worker_threads";
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { ToolCall } from "../../contract/mcp/calls.ts";
import type { ToolAnswer } from "../../contract/mcp/results.ts";
import { createMcpServer } from "../../contract/mcp/server.ts";
import { createTools } from "../../contract/mcp/tools.ts";
import { lowerThreadPriority } from "../../lib/thread-priority.ts";
import type { FromThread, McpRequest, McpResponse, ThreadStart, ToThread } from "./messages.ts";

lowerThreadPriority();
const { limits }: ThreadStart = workerData;
const tools = createTools(limits);
const calls = new Map<number, (answer: ToolAnswer) => void>();
let lastCall = 0;

const send = (message: FromThread) => parentPort?.postMessage(message);

parentPort?.on("message", (message: ToThread) => {
  if ("answer" in message) {
    calls.get(message.call)?.(message.answer);
    calls.delete(message.call);
  } else {
    const { request } = message;
    answer(request, message.message).then(
      (response) => send({ request, response }),
      (error: unknown) =>
        send({ request, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  }
});

async function answer(request: number, { headers, body, reach }: McpRequest): Promise<McpResponse> {
  const call = (wanted: ToolCall) => {
    const { promise, resolve } = Promise.withResolvers<ToolAnswer>();
    calls.set(++lastCall, resolve);
    send({ request, call: lastCall, wanted });
    return promise;
  };
  const response = await handle(new Request("http://herald/mcp", { method: "POST", headers }), body, () =>
    createMcpServer({ tools, reach, call }),
  );
  return { status: response.status, contentType: response.headers.get("Content-Type"), text: await response.text() };
}

/**
 * Nothing is kept between requests, so that any node can answer any of them. Answers are JSON, for clients of all revisions of the
 * protocol; there is nothing to subscribe to.
 */
async function handle(request: Request, parsedBody: unknown, create: () => ReturnType<typeof createMcpServer>) {
  if (!(await isLegacyRequest(request, parsedBody)))
    return createMcpHandler(create, { legacy: "reject", maxSubscriptions: 0 }).fetch(request, { parsedBody });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = create();
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
}
