import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../harness/deadline.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const changeMs = 5_000;

type Shown = { usage: Record<"requests_per_second" | "messages_per_second" | "connections" | "stored_bytes", number> };

const cluster = await startCluster({ nodes: 2 });
if (cluster !== undefined) {
  afterAll(() => cluster[Symbol.asyncDispose]());
  const [first, second] = [cluster.node(0).herald, cluster.node(1).herald];

  test("a limit set on one node takes effect on the other within 5 seconds, as does what it stores", async () => {
    const here = await createOrganization(first);
    const there = await createOrganization(second, here.id);
    const cid = await here.conversation(["alice"]);
    await there.sent("alice", { cid, body: "x" }); // so that the other node knows the organization
    expect((await first.admin("PUT", here.path(), { limits: { stored_bytes: 3_000 } })).status).toBe(200);
    await here.sent("alice", { cid, body: "x".repeat(2_000) });
    const refused = await eventually(
      async () => {
        const answer = await there.send<unknown>("alice", { cid, body: "x".repeat(500) });
        return answer.status === 201 ? undefined : answer;
      },
      "the other node to refuse what is too much",
      changeMs,
    );
    expect(refused.status).toBe(422);
  });

  test("usage covers all nodes, whichever is asked", async () => {
    const here = await createOrganization(first);
    const there = await createOrganization(second, here.id);
    const cid = await here.conversation(["alice"]);
    using _one = await here.socket("alice");
    using _other = await there.socket("alice");
    for (const { admin } of [first, second])
      await eventually(async () => {
        await Promise.all([here, there].map((org) => org.sent("alice", { cid, body: "x" })));
        const { usage } = (await admin<Shown>("GET", here.path())).body;
        expect(usage.connections).toBe(2);
        return usage.messages_per_second > 1 && usage.requests_per_second > 1 ? true : undefined;
      }, "a second in which both nodes took messages");
  });
}
