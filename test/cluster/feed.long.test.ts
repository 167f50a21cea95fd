import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { openFeed } from "../harness/clients/sse.ts";
import { eventually, within } from "../harness/deadline.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const cluster = await startCluster({ nodes: 2 });
if (cluster !== undefined) {
  afterAll(() => cluster[Symbol.asyncDispose]());
  const [first, second] = [cluster.node(0), cluster.node(1)];

  test("a feed on a node without connections of the organization shows what is sent to another node, in order", async () => {
    const org = await createOrganization(first.herald);
    const cid = await org.conversation(["alice"]);
    using feed = await openFeed(second.url, org.id, second.key);
    const bodies = Array.from({ length: 50 }, (_, index) => String(index));
    for (const body of bodies) await org.sent("alice", { cid, body });
    for (const body of bodies) expect((await feed.next()).message?.body).toBe(body);
  });

  test("a feed has no gap while the bus is away, as the node reads the log", async () => {
    const org = await createOrganization(first.herald);
    const cid = await org.conversation(["alice"]);
    using feed = await openFeed(second.url, org.id, second.key);
    await org.sent("alice", { cid, body: "before" });
    expect((await feed.next()).message?.body).toBe("before");
    await cluster.nats?.outage(async () => {
      for (const body of ["1", "2", "3"]) await org.sent("alice", { cid, body });
      for (const body of ["1", "2", "3"])
        expect((await feed.next(undefined, "what was sent without the bus", 15_000)).message?.body).toBe(body);
    });
  });

  test("a feed ends within 5 seconds of its key's revocation on another node", async () => {
    const org = await createOrganization(first.herald);
    const { key, id } = await createKey(first.herald, { organization: org.id, scopes: ["observe"] });
    using feed = await openFeed(second.url, org.id, key);
    await first.herald.admin("DELETE", `/admin/keys/${id}`);
    await within(feed.closed, "the end of the feed", 5_000);
  });

  test("while the database is away, a feed ends unless it uses the bootstrap key, as other keys cannot be looked up", async () => {
    const org = await createOrganization(first.herald);
    const cid = await org.conversation(["alice"]);
    const { key } = await createKey(first.herald, { organization: org.id, scopes: ["observe"] });
    using ending = await openFeed(second.url, org.id, key);
    using staying = await openFeed(second.url, org.id, second.key);
    await cluster.postgres.restart(() => within(ending.closed, "the end of the feed", 15_000));
    const { server_mid } = await eventually(
      () => org.sent("alice", { cid, body: "after" }).catch(() => undefined),
      "a send after the outage",
    );
    expect((await staying.next()).message?._id).toBe(server_mid);
  });
}
