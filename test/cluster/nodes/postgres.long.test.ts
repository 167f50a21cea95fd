import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eventually, within } from "../../harness/deadline.ts";
import { startPostgres } from "../../harness/engines/postgres.ts";
import { startCluster } from "../../harness/servers/cluster.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());

  const start = (nodes: number) => startCluster({ nodes, postgres, nats: null });

  describe("nodes on one PostgreSQL database", () => {
    test("are one service: each reports what the other stored, and answers its retries with the first answer", async () => {
      await using cluster = await start(2);
      const [first, second] = [cluster.node(0).herald, cluster.node(1).herald];
      const org = await createOrganization(first);
      const cid = await org.conversation(["alice", "bob"]);
      const message = { id: "once", cid, body: "hello" };
      const answer = await org.send("alice", message);
      const again = await second.admin("POST", "/admin/message", {
        organizationId: org.id,
        senderId: "alice",
        message,
      });
      expect([answer.status, again.status]).toEqual([201, 201]);
      expect(again.body).toEqual(answer.body as never);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      const { body } = await second.admin<{ items: { body: string }[] }>(
        "GET",
        org.path("conversations", cid, "messages"),
      );
      expect(body.items.map((item) => item.body)).toEqual(["hello"]);
      await first.stop();
      await second.stop();
    });

    test("hear each other's messages by head checks, without a bus, in one order and once", async () => {
      await using cluster = await start(2);
      const [first, second] = [cluster.node(0).herald, cluster.node(1).herald];
      const onFirst = await createOrganization(first);
      const onSecond = await createOrganization(second, onFirst.id);
      const cid = await onFirst.conversation(["alice", "bob"]);
      const here = await onFirst.socket("bob");
      const there = await onSecond.socket("bob");
      const bodies = Array.from({ length: 20 }, (_, index) => `message ${index}`);
      for (const [index, body] of bodies.entries()) await [onFirst, onSecond][index % 2]?.sent("alice", { cid, body });
      for (const socket of [here, there]) {
        const heard: unknown[] = [];
        while (heard.length < bodies.length) {
          const event = await socket.next();
          heard.push("message" in event ? event.message.body : event);
        }
        expect(heard).toEqual(bodies);
      }
      await first.stop();
      await second.stop();
    });

    test("answer 503 while the database is away, keep their connections, and continue when it is back", async () => {
      await using cluster = await start(1);
      const node = cluster.node(0).herald;
      const org = await createOrganization(node);
      const cid = await org.conversation(["alice", "bob"]);
      const socket = await org.socket("bob");
      const message = { id: "through the restart", cid, body: "hello" };
      await postgres.restart(async () => {
        const refused = await org.send("alice", message);
        expect(refused.status).toBe(503);
        expect(refused.headers.get("retry-after")).not.toBeNull();
        const { status, body } = await node.http<{ checks: Record<string, string> }>("GET", "/readyz");
        expect(status).toBe(503);
        expect(body.checks).toMatchObject({ node: "ok", store: expect.not.stringMatching(/^ok$/) });
        expect((await node.http("GET", "/healthz")).status).toBe(200);
      });
      const { server_mid: id } = await org.sent("alice", message);
      expect(await socket.next()).toMatchObject({ message: { _id: id, body: "hello" } });
      await socket.expectSilence();
      await node.stop();
    });

    test("are not ready within seconds while the database hangs, and ready again when it continues", async () => {
      await using cluster = await start(1);
      const node = cluster.node(0).herald;
      const ready = () => node.http<{ checks: Record<string, string> }>("GET", "/readyz");
      postgres.freeze();
      try {
        const answers = await Promise.all([ready(), ready()]);
        for (const { status, body } of answers)
          expect([status, body.checks.store]).toEqual([503, "did not respond within 2 s"]);
      } finally {
        postgres.resume();
      }
      await eventually(async () => (await ready()).status === 200 || undefined, "the node to be ready again");
      await node.stop();
    });

    test("stop even if the database hangs: they give up after a while, and say so", async () => {
      await using cluster = await start(1);
      const node = cluster.node(0).herald;
      const org = await createOrganization(node);
      const cid = await org.conversation(["alice"]);
      postgres.freeze();
      try {
        const send = org.send("alice", { cid, body: "into the void" }).catch(() => undefined);
        for (let call = 0; call < 3; call++) await node.http("GET", "/healthz"); // what was sent before it has arrived
        node.signal("SIGTERM");
        const code = await within(node.exited, "the end of a node whose database hangs", 60_000);
        expect(code).toBe(1);
        expect(node.logs()).toContain("did not finish all work within 12 s");
        await send;
      } finally {
        postgres.resume();
      }
    });

    test("lose nothing acknowledged when one is killed", async () => {
      await using cluster = await start(2);
      const [first, second] = [cluster.node(0).herald, cluster.node(1).herald];
      const org = await createOrganization(first);
      const cid = await org.conversation(["alice"]);
      const sends = Array.from({ length: 200 }, (_, index) => org.send("alice", { cid, body: `message ${index}` }));
      const acknowledged: string[] = [];
      for (const send of sends) {
        void send.then(
          ({ status, body }) => status === 201 && acknowledged.push(body.ask.server_mid),
          () => undefined,
        );
      }
      const answered = await Promise.any(sends);
      await first.kill();
      await Promise.allSettled(sends);
      const { body } = await second.admin<{ items: { _id: string }[] }>(
        "GET",
        `${org.path("conversations", cid, "messages")}?limit=1000`,
      );
      const stored = new Set(body.items.map((item) => item._id));
      expect(acknowledged).toContain(answered.body.ask.server_mid);
      expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
      await second.stop();
    });
  });
}
