import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Herald } from "../servers/herald.ts";

/** A client of an MCP server. Disposing closes it. */
export type McpClient = { client: Client } & AsyncDisposable;

/** The two ways in which clients begin: with `initialize`, or since the revision 2026-07-28 without. */
export const eras = ["legacy", "modern"] as const;
export type Era = (typeof eras)[number];

/** Creates a client that is not connected yet. */
export function newClient(era: Era = "legacy"): Client {
  const mode = era === "legacy" ? era : { pin: "2026-07-28" };
  return new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
}

/** Connects the official client to `/mcp` of a server, with a key and other headers. */
export async function connectMcp(
  { url, key }: Pick<Herald, "url" | "key">,
  { era, headers }: { era?: Era; headers?: Record<string, string> } = {},
): Promise<McpClient> {
  const client = newClient(era);
  const requestInit = { headers: headers ?? { "Admin-Api-Key": key } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

type Content = { type: string; text?: string };

/** The text of what a tool returned, and whether it failed. */
export async function callTool(client: Client, name: string, given: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: given });
  const content: Content[] = "content" in result && Array.isArray(result.content) ? result.content : [];
  const text = content.map((part) => part.text ?? "").join("");
  return { text, isError: result.isError === true, structured: result.structuredContent };
}
