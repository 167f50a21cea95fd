import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { callTool, eras, newClient } from "../../../test/harness/clients/mcp.ts";
import { commandLine, runHerald, startServer, type TestServer } from "../testing/run-herald.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startServer();
  key = readFileSync(join(server.cwd, "data/admin-api-key"), "utf8").trim();
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(eras)("herald mcp speaks to a client that starts it, on its standard input and output (%s)", async (era) => {
  const { command, env, cwd } = commandLine(["mcp", "--url", server.url], { env: { HERALD_ADMIN_API_KEY: key } });
  const [program = "", ...args] = command;
  const known = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const client = newClient(era);
  await client.connect(new StdioClientTransport({ command: program, args, cwd, env: Object.fromEntries(known) }));
  expect(client.getServerVersion()).toMatchObject({ name: "herald" });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("sendMessage");
  const message = { cid: "welcome", body: `by ${era}` };
  const sent = await callTool(client, "sendMessage", { organizationId: "demo", senderId: "alice", message });
  expect(sent).toMatchObject({ isError: false, structured: { ask: {} } });
  const refused = await callTool(client, "getUser", { org: "demo", uid: "nobody" });
  expect(refused.text).toStartWith("404 user_not_found");
  const { contents } = await client.readResource({ uri: "herald://organizations/demo/conversations/welcome/messages" });
  expect(JSON.stringify(contents)).toContain(`by ${era}`);
  await client.close();
});

test("herald mcp ends with its input, and says why it cannot begin", async () => {
  const env = { HERALD_ADMIN_API_KEY: key };
  expect(await runHerald(["mcp", "--url", server.url], { env })).toEqual({ code: 0, stdout: "", stderr: "" });
  const refused = await runHerald(["mcp", "--url", server.url, "--key", "wrong"]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("401 unauthorized");
  const away = await runHerald(["mcp", "--url", "http://127.0.0.1:1", "--key", "wrong"]);
  expect(away).toMatchObject({ code: 3, stdout: "" });
});
