import { describe, expect, test } from "bun:test";
import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { createOperations } from "../../src/contract/operations/all.ts";
import type { Operation } from "../../src/contract/operations/operation.ts";
import type { Problem } from "../harness/clients/wire.ts";
import { eventually } from "../harness/deadline.ts";
import { uniqueId } from "../harness/random.ts";
import { type Answer, useHerald } from "../harness/servers/herald.ts";
import { callWith, createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { createTenant, type Ids, idsOfNothing } from "./tenants.ts";
import { callsOf } from "./walk-calls.ts";

const herald = useHerald({
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
  },
});

const { putScheduled, getScheduled, deleteScheduled } = createOperations(defaultPayloadLimits);
const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));
const withKey = operations.filter(({ scope }) => scope !== undefined);

/** The ids that the detail of each error must contain. With several lists, all of any one of them. */
const named: Record<string, (ids: Ids) => string[][]> = {
  organization_forbidden: ({ org }) => [[org]],
  organization_not_found: ({ org }) => [[org]],
  conversation_not_found: ({ cid }) => [[cid]],
  user_not_found: ({ uid }) => [[uid]],
  sender_forbidden: ({ uid }) => [[uid], ["alice"]], // the sender of what is proposed
  sender_not_found: ({ uid, org }) => [[uid, org]],
  sender_not_participant: ({ uid, cid }) => [
    [uid, cid],
    [uid, "room"],
  ],
  sender_not_owner: ({ uid, messageId }) => [[uid, messageId]],
  message_not_found: ({ messageId, systemMid }) => [[messageId], [systemMid]],
  file_not_found: ({ fileId }) => [[fileId]],
  own_proposal: ({ proposalId }) => [[proposalId]],
  already_sent: ({ scheduledId, proposalId }) => [[scheduledId], [proposalId]],
  message_id_conflict: ({ proposalId }) => [[proposalId]],
  not_found: ({ keyId, scheduledId, proposalId, webhookId, deliveryId, connectionId, tokenId: sessionId }) =>
    [keyId, scheduledId, proposalId, webhookId, deliveryId, connectionId, sessionId].map((id) => [id]),
};

/** Whether a call would make what later calls are to find missing, or remove what they are to find. */
function changesWhatIsThere(operation: Operation, ids: Ids, nothing: Ids): boolean {
  const { operationId, method, path } = operation;
  const isMissing = ids.org === nothing.org;
  if (/^(put(User|Conversation|Webhook)|importLines)$/.test(operationId)) return !isMissing;
  if (operationId === "putParticipant") return ids.cid !== nothing.cid;
  if (method !== "delete") return operationId === "putOrganization";
  if (!path.includes("{")) return ids.messageId !== nothing.messageId;
  const target = callsOf(operation, ids)[0]?.[1] ?? "";
  return !Object.values(nothing).some((id) => target.endsWith(`/${id}`) || target.endsWith(`/${id}/sessions`));
}

type Refusal = { operationId: string; code: string; detail: string };

/** The problems of an answer: its own, or those of the lines of a batch. */
function problemsIn({ status, text, body }: Answer<unknown>, isOfLines: boolean): Problem[] {
  if (status >= 400) return [body as Problem];
  if (!isOfLines) return [];
  const lines: { problem?: Problem }[] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return lines.flatMap(({ problem }) => problem ?? []);
}

async function refusalsOf(key: string, operation: Operation, ids: Ids): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  for (const [method, target, body] of callsOf(operation, ids)) {
    const answer =
      typeof body === "string"
        ? await herald().http("POST", target, {
            body,
            headers: { "Admin-Api-Key": key, "Content-Type": "application/x-ndjson" },
          })
        : await callWith(herald(), key, method, target, body);
    for (const { status, code, detail } of problemsIn(answer, typeof body === "string"))
      if ([403, 404, 409].includes(status)) refusals.push({ operationId: operation.operationId, code, detail });
  }
  return refusals;
}

function namesWhatItMeans({ code, detail }: Refusal, ids: Ids): boolean {
  const alternatives = named[code]?.(ids) ?? [];
  return alternatives.some((all) => all.every((id) => detail.includes(`\`${id}\``)));
}

describe("a refusal of something that the caller named", () => {
  test("names it in its detail, on every route", async () => {
    const tenant = await createTenant(herald(), "mine");
    const nothing = idsOfNothing();
    const { org } = tenant.own;
    const { key: everywhere } = await createKey(herald());
    const { key: asOther } = await createKey(herald(), { organization: org, allowed_senders: ["someone else"] });
    const seen = new Map<string, Set<string>>();
    const silent: Refusal[] = [];
    const note = async (key: string, operation: Operation, ids: Ids) => {
      for (const refusal of await refusalsOf(key, operation, ids)) {
        const { operationId, code } = refusal;
        seen.set(code, (seen.get(code) ?? new Set()).add(operationId));
        const isAboutScope = code === "insufficient_scope" && refusal.detail.includes("`");
        const isOfWholeServer = code === "organization_forbidden" && refusal.detail.includes("whole server");
        if (!isAboutScope && !isOfWholeServer && !namesWhatItMeans(refusal, ids)) silent.push(refusal);
      }
    };
    for (const [key, ids] of [
      [everywhere, { ...tenant.shared, uid: "bob" }],
      [everywhere, { ...nothing, org, webhookId: tenant.own.webhookId }],
      [everywhere, nothing],
      [everywhere, { ...nothing, org }],
      [everywhere, { ...nothing, org, cid: "room" }],
      [everywhere, { ...nothing, org, uid: "alice" }],
      [everywhere, { ...nothing, org, uid: "alice", cid: "room" }],
      [everywhere, { ...tenant.own }],
      [tenant.key, nothing],
      [asOther, { ...nothing, org }],
    ] as const) {
      for (const operation of withKey)
        if (!changesWhatIsThere(operation, ids, nothing)) await note(key, operation, ids);
    }
    const due = { ...tenant.own, scheduledId: uniqueId("due") };
    await note(everywhere, putScheduled, due);
    const [[, address] = []] = callsOf(getScheduled, due);
    const isSent = async () => (await herald().admin<{ state: string }>("GET", address ?? "")).body.state !== "waiting";
    await eventually(async () => (await isSent()) || undefined, "a scheduled send to be sent");
    await note(everywhere, deleteScheduled, due);
    expect(silent).toEqual([]);
    const provoked = [...seen.keys()];
    expect(Object.keys(named).filter((code) => !provoked.includes(code))).toEqual([]);
    const declared = withKey.flatMap(({ operationId, errors }) =>
      errors.filter((code) => code.endsWith("not_found")).map((code) => `${operationId} ${code}`),
    );
    const missed = declared.filter((one) => {
      const [operationId = "", code = ""] = one.split(" ");
      return seen.get(code)?.has(operationId) !== true;
    });
    // Each of these needs another body, and has a case below.
    expect(missed).toEqual([
      "sendMessage message_not_found",
      "sendSystemMessage conversation_not_found",
      "putScheduled message_not_found",
      "putScheduled sender_not_found",
      "putProposal message_not_found",
      "putProposal sender_not_found",
      "listSystemRecipients not_found",
    ]);
  });

  test("names it wherever a body, a line or a frame named it", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const { server_mid } = await org.sent("alice", { id: "m`1", cid, body: "x" });
    const { mid: everyone } = await org.sentSystem("alice", { everyone: true });
    const [ghost, hall] = [uniqueId("ghost"), uniqueId("hall")];
    const [unknown, none] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()];
    const system = (senderId: string) => ({ organizationId: org.id, senderId, messageSystem: { uids: ["bob"] } });
    const at = new Date(Date.now() + 60_000).toISOString();
    const lines = async (path: string, ...given: object[]) => {
      const body = given.map((line) => `${JSON.stringify(line)}\n`).join("");
      const headers = { "Admin-Api-Key": herald().key, "Content-Type": "application/x-ndjson" };
      return (await herald().http("POST", path, { body, headers })).text;
    };
    const attachments = [unknown, none].map((file_id) => ({ name: "a", file_id }));
    const message = { cid, body: "y" };
    const reply = { ...message, replied_message_id: unknown };
    const later = { organizationId: org.id, senderId: "alice", message: reply };
    using socket = await org.socket("alice");
    const heard = async (op: string, payload: object) => (await socket.request(op, payload)).error?.message ?? "";
    const cases: [answer: string, ...names: string[]][] = [
      [(await org.send("alice", { id: "m`1", ...message })).text, "m`1"],
      [(await org.send("alice", { ...message, attachments })).text, unknown],
      [(await org.send(ghost, message)).text, ghost, cid],
      [(await org.send("alice", reply)).text, unknown],
      [(await herald().admin("PUT", org.path("scheduled", "r"), { send_at: at, request: later })).text, unknown],
      [(await org.recall("alice", { cid, ids: [server_mid, unknown], type: "all" })).text, unknown],
      [(await org.read("alice", cid, [server_mid, unknown])).text, unknown],
      [(await org.edit(ghost, { id: server_mid, body: "z" })).text, ghost, cid],
      [(await org.edit("bob", { id: server_mid, body: "z" })).text, "bob", server_mid],
      [(await org.sendSystem("alice", { cid: hall })).text, hall],
      [(await herald().admin("PUT", org.path("scheduled", "s"), { send_at: at, request: system(ghost) })).text, ghost],
      [(await herald().admin("PUT", org.path("proposals", "r"), { request: later })).text, unknown],
      [(await herald().admin("PUT", org.path("proposals", "s"), { request: system(ghost) })).text, ghost],
      [(await herald().admin("GET", org.path("system-messages", everyone, "recipients"))).text, everyone],
      [(await herald().admin("DELETE", org.path("conversations", cid, "participants", ghost))).text, ghost, cid],
      [(await herald().admin("POST", "/admin/keys", { name: "k", scopes: ["*"], organization: hall })).text, hall],
      [await lines("/admin/message/batch", { organizationId: org.id, senderId: ghost, message }), ghost, cid],
      [await lines(org.path("import"), { participant: { cid: hall, uid: "bob" } }), hall],
      [await heard("message_list", { cid: hall }), "alice", hall],
      [await heard("message_list", { cid, before: unknown }), unknown],
      [await heard("message_reactions_list", { mid: unknown }), unknown],
      [await heard("message_read", { cid: hall }), "alice", hall],
      [await heard("message_read", { cid, ids: [server_mid, unknown] }), unknown],
      [await heard("user_last_activity_subscribe", { id: ghost }), ghost],
    ];
    for (const [answer, ...names] of cases)
      expect({ answer, isNamed: names.map((name) => answer.includes(`\`${name}\``)) }).toEqual({
        answer,
        isNamed: names.map(() => true),
      });
  });

  test("names a whole id of 128 characters, and tells no more of what the caller may not see", async () => {
    const org = await createOrganization(herald());
    const longest = "🦉".repeat(127) + uniqueId("").slice(-1);
    const { key } = await createKey(herald(), { organization: org.id });
    const path = (id: string) => `/admin/organizations/${encodeURIComponent(id)}`;
    expect((await herald().admin("GET", path(longest))).body.detail).toContain(`\`${longest}\``);
    const missing = (await callWith<Problem>(herald(), key, "GET", path(longest))).body;
    await createOrganization(herald(), longest);
    const existing = (await callWith<Problem>(herald(), key, "GET", path(longest))).body;
    expect(existing).toEqual({ ...missing, request_id: existing.request_id });
    expect(existing.detail).toContain(`\`${longest}\``);
    const unauthorized = await callWith<Problem>(herald(), "hk_none", "GET", path(longest));
    expect(unauthorized.status).toBe(401);
    expect(unauthorized.text).not.toContain(longest);
  });
});
