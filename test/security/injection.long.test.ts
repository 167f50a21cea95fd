import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { openSocket } from "../harness/clients/socket.ts";
import { requestSse } from "../harness/clients/sse.ts";
import { useEngines } from "../harness/engines.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { type Herald, startHerald, TEST_TOKEN_SECRET } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { goodClaims, signToken } from "../harness/servers/tokens.ts";

setDefaultTimeout(120_000);

/** Legal ids that would be several ids, or another one, if pasted into a subject, a topic, a path or SQL. */
const hostile = [
  "*",
  ">",
  "a.b",
  "a.*",
  "a",
  "b",
  "c:o2",
  "o2",
  "../a",
  "a/b",
  "%2e",
  "%2e%2e%2fa",
  "a,b",
  '["a","b"]',
  "YQ",
  "' OR ''='",
  "$1",
];
/** Characters that separate ids inside Herald, and so must not be in one. */
const separators = ["a\u001fb", "\u001f", "a\u0000b", "a\nb", "a\u0085b"];

const lifted = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
  HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
};

/**
 * Every organization and every conversation in it is named after one of the ids; each has a listener, on the nodes in
 * turn.
 */
async function expectNothingCrosses(nodes: readonly Herald[]): Promise<void> {
  const nodeOf = (index: number): Herald => nodes[index % nodes.length] as Herald; // the index is within the list
  const listeners: {
    heard(): Promise<string | undefined>;
    name: string;
    organization: Organization;
    socket: Awaited<ReturnType<Organization["socket"]>>;
  }[] = [];
  for (const [index, org] of hostile.entries()) {
    const organization = await createOrganization(nodeOf(index), org);
    for (const cid of hostile) await organization.conversation(["alice", cid], cid); // its only other participant has its name
  }
  for (const [index, org] of hostile.entries()) {
    const organization = await createOrganization(nodeOf(index + 1), org);
    for (const uid of hostile.slice(index % 3, (index % 3) + 6)) {
      const socket = await organization.socket(uid);
      listeners.push({
        heard: async () => (await socket.next()).message?.body,
        name: `${org} ${uid}`,
        organization,
        socket,
      });
    }
  }
  const sends: Promise<unknown>[] = [];
  for (const [index, org] of hostile.entries())
    for (const cid of hostile) {
      const message = { cid, body: `${org} ${cid}` };
      sends.push(
        nodeOf(index + 2).admin("POST", "/admin/message", { organizationId: org, senderId: "alice", message }),
      );
    }
  await Promise.all(sends);
  for (const { heard, name } of listeners) expect(await heard()).toBe(name);
  for (const { organization, socket } of listeners) await organization.expectNothingElse(socket);
  for (const { socket } of listeners) socket.terminate();
}

describe("promise 6: ids that look like subjects, topics or paths", () => {
  test("name only themselves on one node", async () => {
    await using herald = await startHerald({ env: lifted });
    await expectNothingCrosses([herald]);
    await herald.stop();
  });

  test("are refused everywhere if they contain a separator of ids", async () => {
    await using herald = await startHerald({ env: lifted });
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice"]);
    using socket = await org.socket("alice");
    for (const id of separators) {
      const part = encodeURIComponent(id);
      const paths = [
        `/admin/organizations/${part}`,
        `${org.path("users")}/${part}`,
        `${org.path("conversations")}/${part}`,
        `${org.path("conversations", cid, "participants")}/${part}`,
      ];
      for (const path of paths) expectProblem(await herald.admin("PUT", path, {}), 422, "invalid_request");
      for (const [organizationId, senderId, of] of [
        [id, "alice", cid],
        [org.id, id, cid],
        [org.id, "alice", id],
      ] as const) {
        const message = { cid: of, body: "x" };
        expectProblem(
          await herald.admin("POST", "/admin/message", { organizationId, senderId, message }),
          422,
          "invalid_request",
        );
      }
      expectProblem(await org.sendSystem<unknown>("alice", { uids: [id] }), 422, "invalid_request");
      expectProblem(await herald.admin("GET", `${org.path("online")}?uids=${part}`), 422, "invalid_request");
      socket.send({ request: { message_list: { cid: id }, id: 1 } }); // U+0000 makes the whole frame unreadable: 400
      expect((await socket.responses.next()).error?.status).toBeOneOf([400, 422]);
      for (const claims of [goodClaims(id, "alice"), goodClaims(org.id, id)]) {
        const token = await signToken(claims);
        using other = await openSocket(herald.url);
        expect((await other.request("connect", { token })).error?.code).toBe("unauthorized");
        expect("refused" in (await requestSse(herald.url, { Authorization: `Bearer ${token}` }))).toBe(true);
      }
    }
    await herald.stop();
  });
});

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  test("promise 6: ids that look like subjects, topics or paths name only themselves over NATS, on three nodes", async () => {
    await using cluster = await startCluster({ nodes: 3, postgres, nats, env: () => lifted });
    const nodes = cluster.nodes.map(({ herald }) => herald);
    await expectNothingCrosses(nodes);
    for (const node of nodes) await node.stop();
  });
}
