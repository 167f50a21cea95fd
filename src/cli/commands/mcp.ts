import type { Command } from "commander";
import { defaultPayloadLimits } from "../../contract/limits.ts";
import type { ToolCall } from "../../contract/mcp/calls.ts";
import type { ToolAnswer } from "../../contract/mcp/results.ts";
import { findTarget } from "../access/target.ts";
import { accessServer, addClientOptions, type ClientOptions, defaultTimeoutSeconds } from "../client-options.ts";

const help = `
The tools are the operations that the key may call. Give an agent a key of its own, with few scopes.

Examples:
  herald mcp
  herald mcp --profile agent`;

/** `herald mcp`. */
export function addMcpCommand(program: Command): void {
  const command = program
    .command("mcp")
    .description("speak the Model Context Protocol on standard input and output, for a client that starts its servers");
  addClientOptions(command)
    .addHelpText("after", help)
    .action(async () => {
      const options = command.opts<ClientOptions>();
      const { scopes, organization: org } = await accessServer(options).admin().getOwnKey();
      // Loaded now, as no other command needs them.
      const [{ serveStdio }, { createMcpServer }, { createTools }] = await Promise.all([
        import("@modelcontextprotocol/server/stdio"),
        import("../../contract/mcp/server.ts"),
        import("../../contract/mcp/tools.ts"),
      ]);
      const tools = createTools(defaultPayloadLimits);
      const call = createCall(options);
      const ended = Promise.withResolvers<void>();
      process.stdin.once("end", ended.resolve).once("close", ended.resolve);
      const serving = serveStdio(() => createMcpServer({ tools, reach: { scopes, org }, call }));
      await ended.promise;
      await serving.close();
    });
}

/** Creates what makes the requests of tools at the server that the options tell. */
function createCall(options: ClientOptions): (wanted: ToolCall) => Promise<ToolAnswer> {
  const { url, findKey } = findTarget(options);
  const base = url.replace(/\/+$/, "");
  const { key } = findKey();
  const timeoutMs = (options.timeout ?? defaultTimeoutSeconds) * 1000;
  return async ({ method, target, body }) => {
    const response = await fetch(base + target, {
      method,
      headers: { "Admin-Api-Key": key, ...(body !== undefined && { "Content-Type": "application/json" }) },
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const retryAfter = response.headers.get("Retry-After") ?? undefined;
    return { status: response.status, retryAfter, text: await response.text() };
  };
}
