import { describe, expect, test } from "bun:test";
import { defaultPayloadLimits } from "../../../src/contract/limits.ts";
import { createOperations } from "../../../src/contract/operations/all.ts";
import type { Operation } from "../../../src/contract/operations/operation.ts";
import { callTool, connectMcp } from "../../harness/clients/mcp.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { type ApiKeyWithSecret, callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { proposing } from "../../harness/servers/proposing.ts";
import { createTenant } from "../../security/tenants.ts";
import { callsOf } from "../../security/walk-calls.ts";

const herald = useHerald();
const deciding = ["message:send", "system:send"];

async function setUp() {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  return { org, cid, ...proposing(org) };
}

/** A key that another key makes. */
async function madeBy(key: string, scopes: string[]): Promise<ApiKeyWithSecret> {
  const answer = await callWith<ApiKeyWithSecret>(herald(), key, "POST", "/admin/keys", { name: "made", scopes });
  expect(answer.status).toBe(201);
  return answer.body;
}

describe("the keys of proposals", () => {
  test("propose and decide as their scopes and allowed senders say", async () => {
    const { cid, put, approve, reject, messageOf, systemOf } = await setUp();
    const keyOf = async (scopes: string[], more: object = {}) => (await createKey(herald(), { scopes, ...more })).key;
    const agent = await keyOf(["message:propose"]);
    const bobs = await keyOf(["message:propose"], { allowed_senders: ["bob"] });
    const message = { request: messageOf("alice", { cid, body: "x" }) };
    const notice = { request: systemOf("alice", { uids: ["bob"] }) };
    for (const scope of ["message:send", "system:send", "history:read"])
      expectProblem(await put("m", message, await keyOf([scope])), 403, "insufficient_scope");
    expectProblem(await put("m", message, bobs), 403, "sender_forbidden");
    expect([(await put("m", message, agent)).status, (await put("s", notice, agent)).status]).toEqual([201, 201]);
    const messages = await keyOf(["message:send"]);
    const notices = await keyOf(["system:send"]);
    const asBob = await keyOf(deciding, { allowed_senders: ["bob"] });
    for (const decide of [approve, reject]) {
      expectProblem(await decide("m", notices), 403, "insufficient_scope");
      expectProblem(await decide("s", messages), 403, "insufficient_scope");
      expectProblem(await decide("m", asBob), 403, "sender_forbidden");
      expectProblem(await decide("m", agent), 403, "insufficient_scope");
    }
    expect((await approve("m", messages)).body.state).toBe("approved");
    expect((await reject("s", notices)).body.state).toBe("rejected");
  });

  test("decide nothing that they, or the keys that made them, have proposed", async () => {
    const { org, cid, put, get, approve, reject, messageOf } = await setUp();
    const scopes = ["message:propose", "keys:manage", ...deciding];
    const proposer = await createKey(herald(), { scopes });
    await put("one", { request: messageOf("alice", { cid, body: "x" }) }, proposer.key);
    const child = await madeBy(proposer.key, scopes);
    const grandchild = await madeBy(child.key, scopes);
    await herald().admin("DELETE", `/admin/keys/${child.id}`); // what it made still descends from the proposer
    const rotated = await herald().admin<ApiKeyWithSecret>("POST", `/admin/keys/${proposer.id}/rotate`, {});
    const rotatedChild = await herald().admin<ApiKeyWithSecret>("POST", `/admin/keys/${grandchild.id}/rotate`, {});
    for (const { key } of [proposer, grandchild, rotated.body, rotatedChild.body])
      for (const decide of [approve, reject]) expectProblem(await decide("one", key), 403, "own_proposal");
    expect((await get("one")).body.state).toBe("waiting");
    expect(await org.history(cid)).toEqual([]);
    expect((await approve("one")).body.state).toBe("approved"); // the key that made the proposer
  });

  test("that only propose reach nobody by any route", async () => {
    const tenant = await createTenant(herald(), "mine");
    const { org, shared } = tenant;
    const { key } = await createKey(herald(), { organization: org.id, scopes: ["message:propose"] });
    const before = await org.history("room");
    using alice = await org.socket("alice");
    await using mcp = await connectMcp({ url: herald().url, key });
    const done: string[] = [];
    const refusedByTools = new Set<string>();
    const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));
    for (const operation of operations.filter(({ scope }) => scope !== undefined)) {
      for (const [method, target, body] of callsOf(operation, shared)) {
        const lines = { "Admin-Api-Key": key, "Content-Type": "application/x-ndjson" };
        const answer =
          typeof body === "string"
            ? await herald().http(method, target, { body, headers: lines })
            : await callWith(herald(), key, method, target, body);
        if (answer.status < 300) done.push(operation.operationId);
        if (typeof body !== "object" || operation.path.includes("{")) continue;
        const told = await callTool(mcp.client, operation.operationId, { ...body }).catch(() => undefined);
        if (told?.text.startsWith("403 insufficient_scope")) refusedByTools.add(operation.operationId);
        else if (told?.isError === false) done.push(`tool ${operation.operationId}`);
      }
    }
    // A batch refuses each of its lines.
    expect([...new Set(done)].sort()).toEqual(["getOwnKey", "listProposals", "sendBatch"]);
    const sends = ["sendMessage", "sendSystemMessage", "appendToMessage", "editMessage"];
    expect(sends.filter((name) => !refusedByTools.has(name))).toEqual([]);
    const { messageOf, put } = proposing(org);
    expect((await put("new", { request: messageOf("alice", { cid: "room", body: "x" }) }, key)).status).toBe(201);
    expect(await org.history("room")).toEqual(before);
    await org.expectNothingElse(alice);
  });
});
