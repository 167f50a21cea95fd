import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { createOperations } from "../../src/contract/operations/all.ts";
import type { Operation } from "../../src/contract/operations/operation.ts";
import type { Problem } from "../harness/clients/wire.ts";
import { uniqueId } from "../harness/random.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import type { Herald } from "../harness/servers/herald.ts";
import { callWith, createKey } from "../harness/servers/keys.ts";
import { hooksOf, startReceiver } from "../harness/servers/receiver.ts";
import { createTenant, type Ids } from "./tenants.ts";
import { type Call, callsOf } from "./walk-calls.ts";

setDefaultTimeout(120_000);

const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));

/** Whatever creates or widens a right, which outlives the key that made it. A new operation must be in one of the two lists. */
const rights = [
  "createKey",
  "rotateKey",
  "deleteKey",
  "putOrganization",
  "putUser",
  "createToken",
  "putConversation",
  "putParticipant",
  "putWebhook",
  "rotateWebhook",
  "redeliverWebhook",
  "putScheduled",
  "putProposal",
  "importLines",
];
/** What changes something, or may, and leaves no right: sends, files, what takes away, and what reads with a body. A node may take 5 seconds to refuse it. */
const others = [
  "sendMessage",
  "sendSystemMessage",
  "sendBatch",
  "markRead",
  "tellTyping",
  "editMessage",
  "updateReactions",
  "appendToMessage",
  "recallMessages",
  "recallSystemMessages",
  "createFile",
  "putFile",
  "deleteFile",
  "deleteOrganization",
  "deleteUser",
  "revokeToken",
  "deleteSessions",
  "closeConnection",
  "endSession",
  "deleteConversation",
  "deleteParticipant",
  "deleteScheduled",
  "approveProposal",
  "rejectProposal",
  "deleteWebhook",
  "testWebhook",
  "listOnlineUsers",
];

const attempts = 20;

test("the walk knows of every operation that changes something whether it leaves a right", () => {
  const changing = operations.filter(({ method, scope }) => method !== "get" && scope !== undefined);
  expect(changing.map(({ operationId }) => operationId).sort()).toEqual([...rights, ...others].sort());
});

const call = (node: Herald, key: string, [method, target, body]: Call) => {
  const headers = { "Admin-Api-Key": key };
  if (typeof body !== "string") return node.admin<Problem>(method, target, body, headers);
  return node.http<Problem>(method, target, {
    body,
    headers: { ...headers, "Content-Type": "application/x-ndjson" },
  });
};

const cluster = await startCluster({ nodes: 2, env: () => ({ HERALD_WEBHOOK_ALLOW_PRIVATE: "1" }) });
if (cluster !== undefined) {
  afterAll(() => cluster[Symbol.asyncDispose]());
  const [first, second] = [cluster.node(0).herald, cluster.node(1).herald];
  const mine = await createTenant(first, "mine");
  const [receiver, hooks] = [startReceiver(), hooksOf(mine.org)];
  afterAll(() => receiver[Symbol.dispose]());
  await hooks.toReceiver("heard", receiver);
  await mine.org.sent("alice", { cid: "room", body: "not delivered to bob" });
  await receiver.first(1);
  const [delivery] = await hooks.deliveriesWhen("heard", (all) => all.some(({ state }) => state === "delivered"));
  const sharedIds = { ...mine.shared, webhookId: "heard", deliveryId: delivery?.id ?? "" };

  /** Ends a key on the first node, in some way. */
  const endings: [how: string, end: (id: string) => Promise<unknown>][] = [
    ["revoked", (id) => first.admin("DELETE", `/admin/keys/${id}`)],
    ["rotated without overlap", (id) => first.admin("POST", `/admin/keys/${id}/rotate`, { overlap_seconds: 0 })],
  ];

  /** Calls with a key that has just ended on the other node, until this node was seen to take it for valid meanwhile. */
  async function callTooLate(
    end: (id: string) => Promise<unknown>,
    organization: string | null,
    late: (ids: Ids) => Call,
  ) {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const target = await createKey(first, { organization: mine.org.id });
      const { id, key } = await createKey(first, { organization });
      const ids = { ...sharedIds, keyId: target.id, scheduledId: uniqueId("later"), proposalId: uniqueId("proposed") };
      const known = () => callWith(second, key, "GET", mine.org.path());
      expect((await known()).status).toBe(200);
      await end(id);
      const [answer, { status }] = await Promise.all([call(second, key, late(ids)), known()]);
      if (status === 200) return answer;
      expectProblem(answer, 401, "unauthorized");
    }
    throw new Error("the other node always knew at once that the key had ended");
  }

  describe.each(endings)("a key that was %s on one node is refused on the other at once", (_how, end) => {
    test.each(operations.filter(({ operationId }) => rights.includes(operationId)))(
      "by $operationId",
      async (operation) => {
        const ofOperation = (ids: Ids) => callsOf(operation, ids)[0] ?? ["", "", undefined];
        for (const organization of [mine.org.id, null]) {
          const { key } = await createKey(first, { organization });
          const ids = {
            ...sharedIds,
            keyId: (await createKey(first, { organization })).id,
            proposalId: uniqueId("proposed"), // an id is proposed once
          };
          const valid = await call(second, key, ofOperation(ids));
          expect({ organization, isDone: valid.status < 300, text: valid.text }).toMatchObject({ isDone: true });
          expectProblem(await callTooLate(end, organization, ofOperation), 401, "unauthorized");
        }
      },
    );
  });

  test("the organization that was deleted on one node is not created on the other by its key", async () => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const tenant = `tenant-${crypto.randomUUID()}`;
      const path = `/admin/organizations/${tenant}`;
      await first.admin("PUT", path, {});
      const { key } = await createKey(first, { organization: tenant });
      expect((await callWith(second, key, "GET", path)).status).toBe(200);
      await first.admin("DELETE", path);
      const [again, seen] = await Promise.all([
        callWith(second, key, "PUT", path, {}),
        callWith(second, key, "GET", path),
      ]);
      expectProblem(again, 401, "unauthorized");
      expectProblem(await first.admin("GET", path), 404, "organization_not_found");
      if (seen.status === 404) return; // the key was still taken for valid
    }
    throw new Error("the other node always knew at once that the key had ended");
  });
}
