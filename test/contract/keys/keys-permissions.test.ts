import { describe, expect, test } from "bun:test";
import { defaultPayloadLimits } from "../../../src/contract/limits.ts";
import { createOperations } from "../../../src/contract/operations/all.ts";
import type { Operation } from "../../../src/contract/operations/operation.ts";
import type { Page, Problem } from "../../harness/clients/wire.ts";
import { uniqueId } from "../../harness/random.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { type Answer, useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald();

/**
 * The scope that each operation requires, or several of which one will do; `any`: none in particular, `open`: not even a key. An operation missing here
 * fails the tests below.
 */
const expected: Record<string, string> = {
  sendMessage: "message:send",
  sendSystemMessage: "system:send",
  editMessage: "message:edit",
  updateReactions: "message:send",
  appendToMessage: "message:send",
  recallMessages: "message:edit",
  recallSystemMessages: "message:edit",
  markRead: "message:send",
  tellTyping: "message:send",
  sendBatch: "any",
  putScheduled: "message:send or system:send",
  getScheduled: "history:read",
  deleteScheduled: "message:send or system:send",
  listScheduled: "history:read",
  putProposal: "message:propose",
  getProposal: "message:propose or history:read",
  approveProposal: "message:send or system:send",
  rejectProposal: "message:send or system:send",
  listProposals: "message:propose or history:read",
  putWebhook: "webhooks:manage",
  getWebhook: "webhooks:manage",
  listWebhooks: "webhooks:manage",
  deleteWebhook: "webhooks:manage",
  rotateWebhook: "webhooks:manage",
  testWebhook: "webhooks:manage",
  listWebhookDeliveries: "webhooks:manage",
  redeliverWebhook: "webhooks:manage",
  putOrganization: "directory:write",
  getOrganization: "directory:read",
  deleteOrganization: "directory:write",
  listOrganizations: "directory:read",
  putUser: "directory:write",
  getUser: "directory:read",
  deleteUser: "directory:write",
  listUsers: "directory:read",
  createToken: "directory:write",
  revokeToken: "directory:write",
  deleteSessions: "directory:write",
  putConversation: "directory:write",
  getConversation: "directory:read",
  deleteConversation: "directory:write",
  listConversations: "directory:read",
  putParticipant: "directory:write",
  deleteParticipant: "directory:write",
  listParticipants: "directory:read",
  listMessages: "history:read",
  getMessage: "history:read",
  getSystemMessage: "history:read",
  listInbox: "history:read",
  listDeliveries: "history:read",
  listRecipients: "history:read",
  listSystemRecipients: "history:read",
  importLines: "directory:write",
  exportOrganization: "history:read",
  exportUser: "history:read",
  createFile: "files:write",
  putFile: "files:write",
  getFile: "history:read",
  downloadFile: "history:read",
  deleteFile: "files:write",
  listOnline: "observe",
  listOnlineUsers: "observe",
  listConnections: "observe",
  closeConnection: "directory:write",
  listNodes: "observe",
  streamEvents: "observe",
  createKey: "keys:manage",
  listKeys: "keys:manage",
  getOwnKey: "any",
  getKey: "keys:manage",
  rotateKey: "keys:manage",
  deleteKey: "keys:manage",
  listSessions: "keys:manage",
  endSession: "any",
  listAudit: "observe",
  getHealth: "open",
  getReadiness: "open",
  getMetrics: "open",
  getOpenApi: "open",
  getAsyncApi: "open",
};
const scopes = [
  "message:send",
  "message:propose",
  "message:edit",
  "system:send",
  "directory:read",
  "directory:write",
  "history:read",
  "files:write",
  "observe",
  "keys:manage",
  "*",
];
const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));
const withKey = operations.filter(({ operationId }) => expected[operationId] !== "open");

/** Operations without an organization in their path that a key of one organization may call, and how they limit it. */
const limitedByThemselves = new Set([
  "sendMessage",
  "sendSystemMessage",
  "editMessage",
  "updateReactions",
  "appendToMessage",
  "recallMessages",
  "recallSystemMessages",
  "markRead",
  "tellTyping",
  "sendBatch",
  "listOnlineUsers",
  "listOrganizations",
  "createKey",
  "listKeys",
  "getOwnKey",
  "getKey",
  "rotateKey",
  "deleteKey",
  "endSession",
  "listAudit",
  "downloadFile",
]);

/** A call of the operation with its example, about an organization. */
function callOf({ operationId, method, path, bodyExample }: Operation, org: string) {
  const values: Record<string, string> = { org: encodeURIComponent(org) };
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? uniqueId(name));
  return [method.toUpperCase(), target, bodyOf(operationId, bodyExample, org)] as const;
}

function bodyOf(operationId: string, example: unknown, org: string): unknown {
  // The example asks for more than most keys here may hand on.
  if (operationId === "createKey") return { name: "made", scopes: ["keys:manage"] };
  if (typeof example !== "object" || example === null) return example;
  if ("request" in example) return { ...example, request: bodyOf("", example.request, org) };
  return "organizationId" in example ? { ...example, organizationId: org } : example;
}

/** The same order, of a system message for a key that sends only those. */
function forScope(scope: string, body: unknown): unknown {
  if (scope !== "system:send" || typeof body !== "object" || body === null || !("request" in body)) return body;
  return { ...body, request: { ...Object(body.request), message: undefined, messageSystem: { uids: ["bob"] } } };
}

/** Whether a response says that the key may do this, whatever else is wrong. */
function isPermitted({ status, body: { code } }: Answer<Problem>): boolean {
  return status !== 401 && (status !== 403 || code === "sender_not_participant");
}

describe("scopes", () => {
  test("are required by every operation, as this table says", () => {
    expect(
      Object.fromEntries(
        operations.map(({ operationId, scope = "open" }) => [operationId, [scope].flat().join(" or ")]),
      ),
    ).toEqual(expected);
  });

  test.each(scopes)("%s permits its own operations and no others", async (scope) => {
    const { key } = await createKey(herald(), { scopes: [scope] });
    for (const operation of withKey) {
      const needed = expected[operation.operationId] ?? "";
      const [method, target, body] = callOf(operation, uniqueId("org"));
      const answer = await callWith(
        herald(),
        key,
        method,
        target,
        needed.includes(" or ") ? forScope(scope, body) : body,
      );
      if (needed.split(" or ").includes(scope) || scope === "*" || needed === "any") {
        const { operationId } = operation;
        expect({ operationId, isPermitted: isPermitted(answer) }).toEqual({ operationId, isPermitted: true });
      } else {
        expectProblem(answer, 403, "insufficient_scope");
        for (const one of needed.split(" or ")) expect(answer.body.detail).toContain(`\`${one}\``);
      }
    }
  });

  test("may be several, and are checked before the body", async () => {
    const { key } = await createKey(herald(), { scopes: ["message:send", "directory:read"] });
    const calls = [
      await callWith(herald(), key, "POST", "/admin/message", {}),
      await callWith(herald(), key, "POST", "/admin/message/system", {}),
      await callWith(herald(), key, "GET", "/admin/organizations"),
    ];
    expect(calls.map(({ status }) => status)).toEqual([422, 403, 200]);
  });
});

describe("a key of one organization", () => {
  test("is refused every call about another, in the same words whether that one exists or not", async () => {
    const [own, other] = [await createOrganization(herald()), await createOrganization(herald())];
    const { key } = await createKey(herald(), { organization: own.id });
    for (const operation of withKey) {
      const { operationId, path } = operation;
      // A batch refuses each line alone; see test/contract/messages/batch.test.ts.
      const isAboutOne = path.includes("{org}") || (operationId.startsWith("send") && operationId !== "sendBatch");
      if (limitedByThemselves.has(operationId) && !isAboutOne) continue;
      const answers: Problem[] = [];
      for (const org of [other.id, uniqueId("nowhere")]) {
        const answer = await callWith(herald(), key, ...callOf(operation, org));
        expect({ operationId, status: answer.status }).toEqual({ operationId, status: 403 });
        expectProblem(answer, 403, "organization_forbidden");
        const { detail } = answer.body;
        answers.push({ ...answer.body, detail: detail.replaceAll(org, "…"), request_id: "" });
      }
      expect(answers[0]).toEqual(answers[1] as Problem);
    }
    expect((await herald().admin("GET", other.path())).status).toBe(200);
  });

  test("is not refused calls about its own", async () => {
    const own = await createOrganization(herald());
    const { key } = await createKey(herald(), { organization: own.id });
    const last = withKey.filter(({ operationId }) => operationId === "deleteOrganization");
    for (const operation of [...withKey.filter((one) => !last.includes(one)), ...last]) {
      const { operationId, path } = operation;
      if (!path.includes("{org}") && !limitedByThemselves.has(operationId)) continue;
      const answer = await callWith(herald(), key, ...callOf(operation, own.id));
      expect({ operationId, isPermitted: isPermitted(answer) }).toEqual({ operationId, isPermitted: true });
    }
    const gone = await callWith(herald(), key, "GET", own.path());
    expect(gone.status).toBeOneOf([401, 404]); // it goes with its organization, within seconds
  });

  test("sees only its own in the list of organizations", async () => {
    const [own, other] = [await createOrganization(herald()), await createOrganization(herald())];
    const { key } = await createKey(herald(), { organization: own.id, scopes: ["directory:read"] });
    const { body } = await callWith<Page<{ id: string }>>(herald(), key, "GET", "/admin/organizations?limit=1");
    expect(body).toEqual({ items: [expect.objectContaining({ id: own.id })], cursor: null });
    expect((await readList<{ id: string }>(herald(), "/admin/organizations")).map(({ id }) => id)).toEqual(
      expect.arrayContaining([own.id, other.id]),
    );
  });
});

describe("a key with allowed senders", () => {
  test("sends messages and system messages as them, and as nobody else", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const { key } = await createKey(herald(), { scopes: ["message:send", "system:send"], allowed_senders: ["alice"] });
    const send = (senderId: string) =>
      callWith(herald(), key, "POST", "/admin/message", {
        organizationId: org.id,
        senderId,
        message: { cid, body: "x" },
      });
    const sendSystem = (senderId: string) =>
      callWith(herald(), key, "POST", "/admin/message/system", {
        organizationId: org.id,
        senderId,
        messageSystem: { uids: ["bob"] },
      });
    expect([(await send("alice")).status, (await sendSystem("alice")).status]).toEqual([201, 201]);
    for (const sender of ["bob", "nobody", "Alice", "alice "]) {
      expectProblem(await send(sender), 403, "sender_forbidden");
      expectProblem(await sendSystem(sender), 403, "sender_forbidden");
    }
    expect(await org.history(cid)).toHaveLength(1);
  });
});
