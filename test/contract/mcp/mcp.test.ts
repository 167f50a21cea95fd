import { describe, expect, test } from "bun:test";
import { scopes } from "../../../src/contract/keys/scopes.ts";
import { defaultPayloadLimits } from "../../../src/contract/limits.ts";
import { createOperations } from "../../../src/contract/operations/all.ts";
import type { Operation } from "../../../src/contract/operations/operation.ts";
import { callTool, connectMcp, eras } from "../../harness/clients/mcp.ts";
import type { Page, Problem } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { uniqueId } from "../../harness/random.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { createTenant } from "../../security/tenants.ts";
import { argumentsOf, callsOf } from "../../security/walk-calls.ts";

const herald = useHerald({ env: { HERALD_ALLOWED_ORIGINS: "https://agents.example.org" } });

/** Neither streams, nor lines, nor bytes, nor what needs no key. */
const notTools = [
  ...["sendBatch", "importLines", "exportOrganization", "exportUser", "createFile", "putFile", "downloadFile"],
  ...["streamEvents", "getHealth", "getReadiness", "getMetrics", "getOpenApi", "getAsyncApi"],
];
const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));
const forTools = operations.filter(({ operationId }) => !notTools.includes(operationId));

type Entry = { operation: string; key: { id: string } | null; address: string; status: number; request_id: string };

/** Makes a JSON-RPC request without a client. */
const post = (body: string, headers: Record<string, string> = {}) =>
  herald().http<Problem>("POST", "/mcp", {
    body,
    headers: {
      "Admin-Api-Key": herald().key,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
  });
const rpc = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

describe.each(eras)("the official client, %s", (era) => {
  test("lists tools, sends a message with one, and reads the history as a resource", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"], "a conversation/with ä");
    using bob = await org.socket("bob");
    await using mcp = await connectMcp(herald(), { era });
    const { client } = mcp;
    expect(client.getServerVersion()).toMatchObject({ name: "herald", title: "Herald" });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(forTools.map(({ operationId }) => operationId).sort());
    const message = { cid, body: "from an agent" };
    const sent = await callTool(client, "sendMessage", { organizationId: org.id, senderId: "alice", message });
    expect(sent).toMatchObject({ isError: false, structured: { ask: { server_mid: expect.any(String) } } });
    expect(JSON.parse(sent.text)).toEqual(sent.structured);
    expect(await bob.next()).toMatchObject({ message: { body: "from an agent", from: "alice" } });

    const { resourceTemplates } = await client.listResourceTemplates();
    const [template] = resourceTemplates;
    const uri = template?.uriTemplate.replace("{org}", org.id).replace("{cid}", encodeURIComponent(cid)) ?? "";
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, mimeType: "application/json" }]);
    const [{ text = "" } = {}] = contents as { text?: string }[];
    expect(JSON.parse(text).items).toMatchObject([{ body: "from an agent" }]);
    expect((await client.listResources()).resources).toEqual([]);
  });

  test("passes what it is given to the path, the query and the body", async () => {
    const org = await createOrganization(herald());
    await using mcp = await connectMcp(herald(), { era });
    const { client } = mcp;
    const named = { org: org.id, uid: "ann/?#%", name: "Ann" };
    expect(await callTool(client, "putUser", named)).toMatchObject({ isError: false, structured: { name: "Ann" } });
    await org.user("ben");
    const listed = await callTool(client, "listUsers", { org: org.id, prefix: "ann/", limit: 1, cursor: null });
    expect(listed.structured).toMatchObject({ items: [{ id: "ann/?#%" }] });
    const online = await callTool(client, "listOnline", { org: org.id, uids: ["a,b", "c"] });
    expect(online).toMatchObject({ isError: false });
    const removed = await callTool(client, "deleteUser", { org: org.id, uid: "ann/?#%" });
    expect(removed).toEqual({ isError: false, text: "Done (204).", structured: undefined });
  });

  test("reads problems as errors that say what to do", async () => {
    const org = await createOrganization(herald());
    await using mcp = await connectMcp(herald(), { era });
    const { client } = mcp;
    const invalid = await callTool(client, "sendMessage", { organizationId: org.id, senderId: "a", message: {}, y: 1 });
    expect(invalid.isError).toBe(true);
    expect(invalid.text).toStartWith("422 invalid_request: ");
    expect(invalid.text).toContain("- /message/cid: ");
    expect(invalid.text).toContain("- /y: ");
    const unknown = await callTool(client, "getUser", { org: org.id, uid: "nobody" });
    expect(unknown.isError).toBe(true);
    expect(unknown.text).toContain("user_not_found");
    expect(unknown.text).toMatch(/Request id: \S+$/);
    for (const uid of [undefined, "", ".", "..", 7])
      expect(await callTool(client, "getUser", { org: org.id, uid })).toMatchObject({ isError: true });
    expect((await callTool(client, "getUser", { org: org.id, uid: "a", more: 1 })).text).toContain("422");
    await expect(client.callTool({ name: "noSuchTool", arguments: {} })).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri: "herald://organizations/../x" })).rejects.toThrow();
    const missing = `herald://organizations/${org.id}/conversations/none/messages`;
    await expect(client.readResource({ uri: missing })).rejects.toThrow("conversation_not_found");
  });
});

describe("a key's tools", () => {
  test.each(Object.keys(scopes))(
    "with the scope %s are those that its requests are not refused for lack of it",
    async (scope) => {
      const { key } = await createKey(herald(), { scopes: [scope] });
      await using mcp = await connectMcp({ url: herald().url, key });
      const { tools } = await mcp.client.listTools();
      const names = tools.map(({ name }) => name);
      for (const { operationId, method, path, body } of forTools) {
        const target = path.replaceAll(/\{\w+\}/g, uniqueId("nothing"));
        const answer = await callWith(herald(), key, method.toUpperCase(), target, body && {});
        const isAllowed = answer.body?.code !== "insufficient_scope";
        expect({ operationId, isListed: names.includes(operationId) }).toEqual({ operationId, isListed: isAllowed });
      }
      const { resourceTemplates } = await mcp.client.listResourceTemplates();
      expect(resourceTemplates).toHaveLength(names.includes("listMessages") ? 1 : 0);
    },
  );

  test("of one organization lack what concerns the whole server, and the instructions name it", async () => {
    const org = await createOrganization(herald());
    const { key } = await createKey(herald(), { organization: org.id });
    await using mcp = await connectMcp({ url: herald().url, key });
    const names = new Set((await mcp.client.listTools()).tools.map(({ name }) => name));
    expect(forTools.filter(({ operationId }) => !names.has(operationId)).map(({ operationId }) => operationId)).toEqual(
      ["listNodes", "listSessions"],
    );
    expect(mcp.client.getInstructions()).toContain(JSON.stringify(org.id));
    const other = await createOrganization(herald());
    const refused = await callTool(mcp.client, "listUsers", { org: other.id });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("403 organization_forbidden") });
  });

  test("that it may not call are refused, and the audit log has that and what was done, with key and request", async () => {
    const org = await createOrganization(herald());
    const { key, id } = await createKey(herald(), { scopes: ["directory:write"], organization: org.id });
    await using mcp = await connectMcp({ url: herald().url, key });
    const refused = await callTool(mcp.client, "listUsers", { org: org.id });
    expect(refused.text).toStartWith("403 insufficient_scope");
    expect((await callTool(mcp.client, "putUser", { org: org.id, uid: "dan" })).isError).toBe(false);
    const entries = await eventually(async () => {
      const { items } = (await herald().admin<Page<Entry>>("GET", `/admin/audit?key=${id}`)).body;
      return items.length >= 2 ? items : undefined;
    }, "both entries");
    expect(entries.map(({ operation, status }) => `${operation} ${status}`).sort()).toEqual([
      "listUsers 403",
      "putUser 201",
    ]);
    for (const { address } of entries) expect(address).toMatch(/^(127\.0\.0\.1|::1)$/);
    expect(refused.text).toContain(entries.find(({ status }) => status === 403)?.request_id ?? "none");
  });

  test("answer as their schemas say, which the client checks", async () => {
    const { key, own } = await createTenant(herald(), uniqueId("tenant"));
    await using mcp = await connectMcp({ url: herald().url, key });
    const listed = new Map((await mcp.client.listTools()).tools.map((tool) => [tool.name, tool]));
    const answered = new Set<string>();
    for (const operation of forTools.filter(({ operationId, method }) => method === "get" && listed.has(operationId))) {
      for (const call of callsOf(operation, own)) {
        const { isError, structured } = await callTool(mcp.client, operation.operationId, argumentsOf(operation, call));
        if (isError) continue;
        expect(structured).toBeObject();
        expect(listed.get(operation.operationId)?.outputSchema).toBeDefined();
        answered.add(operation.operationId);
      }
    }
    expect(answered.size).toBeGreaterThan(20);
  });

  test("say what they do: reads change nothing, deletions and replacements destroy, sends reach people", async () => {
    await using mcp = await connectMcp(herald());
    const { tools } = await mcp.client.listTools();
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
    expect(hints.listMessages).toMatchObject({ readOnlyHint: true, destructiveHint: false, openWorldHint: false });
    expect(hints.listOnlineUsers).toMatchObject({ readOnlyHint: true });
    expect(hints.sendMessage).toMatchObject({ readOnlyHint: false, destructiveHint: false, openWorldHint: true });
    expect(hints.recallMessages).toMatchObject({ destructiveHint: true, idempotentHint: true });
    expect(hints.putParticipant).toMatchObject({ destructiveHint: false, idempotentHint: true });
    for (const { name, title, description, inputSchema } of tools) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect([title, description]).not.toContain(undefined);
      expect(JSON.stringify(inputSchema)).not.toContain("$ref");
      expect(inputSchema).not.toContainAnyKeys(["anyOf", "oneOf", "allOf"]); // which some models' interfaces refuse
    }
  });
});

describe("POST /mcp", () => {
  test("takes the key as a bearer token, and no other endpoint does", async () => {
    const headers = { Authorization: `Bearer ${herald().key}` };
    await using mcp = await connectMcp(herald(), { headers });
    expect((await callTool(mcp.client, "getOwnKey")).isError).toBe(false);
    expectProblem(await herald().http<Problem>("GET", "/admin/self", { headers }), 401, "unauthorized");
  });

  test("refuses callers without a valid key", async () => {
    const body = rpc("tools/list");
    for (const headers of [{ "Admin-Api-Key": "" }, { "Admin-Api-Key": "hk_wrong" }] as Record<string, string>[])
      expectProblem(await post(body, headers), 401, "unauthorized");
  });

  test("refuses web pages, also of its own origin, unless their origin is allowed", async () => {
    const from = (Origin: string) => post(rpc("tools/list"), { Origin });
    for (const origin of [herald().url, "http://localhost:7070", "https://evil.example", "null"])
      expectProblem(await from(origin), 403, "origin_forbidden");
    expect((await from("https://agents.example.org")).status).toBe(200);
  });

  test("answers JSON, with neither a session nor a stream", async () => {
    const { status, headers, text } = await post(rpc("tools/list"));
    expect({ status, type: headers.get("content-type") }).toEqual({ status: 200, type: "application/json" });
    expect(headers.get("mcp-session-id")).toBeNull();
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0", id: 1, result: {} });
    expect(await post(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }))).toMatchObject({
      status: 202,
      text: "",
    });
    for (const method of ["GET", "DELETE"]) {
      const answer = await herald().admin<Problem>(method, "/mcp");
      expectProblem(answer, 405, "method_not_allowed");
    }
  });

  test("returns no answer that would fill the context of a model", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    for (let count = 0; count < 3; count++) await org.sent("alice", { cid, body: "x".repeat(40_000) });
    await using mcp = await connectMcp(herald());
    const { client } = mcp;
    const whole = await callTool(client, "listMessages", { org: org.id, cid });
    expect(whole).toMatchObject({ isError: true, text: expect.stringContaining("Ask for less") });
    const part = await callTool(client, "listMessages", { org: org.id, cid, limit: 2 });
    expect(part).toMatchObject({ isError: false, structured: { items: [{}, {}] } });
    const uri = `herald://organizations/${org.id}/conversations/${cid}/messages`;
    await expect(client.readResource({ uri })).rejects.toThrow("Ask for less");
  });

  test("refuses what is no JSON-RPC, and nothing is a 500", async () => {
    const messages = [
      ...["", "{", "[]", "{}", "1", "null", '"x"', "[[]]", "[1]", "[null]", '{"jsonrpc":"1.0","id":1,"method":"ping"}'],
      '{"jsonrpc":"2.0","id":{},"method":"ping"}',
      '{"jsonrpc":"2.0","id":null,"method":"ping"}',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","id":1,"method":7}',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      `[${Array.from({ length: 101 }, () => '{"jsonrpc":"2.0","method":"x"}')}]`,
      '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
      '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}',
      rpc("no/such/method"),
      rpc("tools/call", { name: 7 }),
      rpc("tools/call", { name: "getUser", arguments: [] }),
      rpc("tools/call", { name: "__proto__", arguments: {} }),
      rpc("tools/call", { name: "getUser", arguments: { org: "\ud800", uid: {} } }),
      rpc("tools/call", { name: "getUser", arguments: { __proto__: {}, constructor: 1 } }),
      rpc("resources/read", { uri: "herald://organizations/%/conversations/%ff/messages" }),
      rpc("resources/read", { uri: "x".repeat(100_000) }),
      rpc("server/discover", { _meta: { "io.modelcontextprotocol/protocolVersion": "9999-01-01" } }),
      rpc("tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }),
    ];
    for (const body of messages)
      for (const headers of [{}, { "MCP-Protocol-Version": "2026-07-28" }, { "MCP-Protocol-Version": "x" }] as Record<
        string,
        string
      >[]) {
        const { status } = await post(body, headers);
        expect({ body: body.slice(0, 100), headers, status }).not.toMatchObject({ status: 500 });
        expect(status).toBeLessThan(500);
      }
    expect((await post(rpc("ping"), { Accept: "text/html" })).status).toBe(406);
    expect((await post(rpc("ping"), { "Content-Type": "text/plain" })).status).toBe(415);
    expect((await post("x".repeat(2_000_000))).status).toBe(413);
  });

  test("charges each tool as a request of its own", async () => {
    const org = await createOrganization(herald());
    await herald().admin("PUT", org.path(), { limits: { requests_per_second: 1 } });
    await using mcp = await connectMcp(herald());
    const calls = Array.from({ length: 40 }, () => callTool(mcp.client, "listUsers", { org: org.id }));
    const texts = (await Promise.all(calls)).filter(({ isError }) => isError).map(({ text }) => text);
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text).toMatch(/^429 rate_limited: [\s\S]*Try again in \d+ s\./);
  });
});
