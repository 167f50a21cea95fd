import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ScheduledSend } from "../harness/clients/wire.ts";
import { createSteppedClock } from "../harness/engines/stepped-clock.ts";
import { useEngines } from "../harness/engines.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { type Cluster, startCluster } from "../harness/servers/cluster.ts";
import { createOrganization, type Organization, readList } from "../harness/servers/organization.ts";
import { scheduling } from "../harness/servers/scheduling.ts";

setDefaultTimeout(120_000);

const hourSeconds = 3_600;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const until = (time: string, plusMs = 0) => Bun.sleep(Math.max(0, Date.parse(time) + plusMs - Date.now()));
const idsOf = (count: number) => Array.from({ length: count }, (_, n) => `s${n}`);

/** The same organization, reached through another node. */
const through = (cluster: Cluster, index: number, { id }: Organization) =>
  createOrganization(cluster.node(index).herald, id);

/** Schedules a message for each id, whose body is the id; few at a time, as a busy database refuses calls that wait for long. */
async function scheduleAll(org: Organization, cid: string, ids: string[], send_at: string): Promise<void> {
  const { put, messageOf } = scheduling(org);
  for (let from = 0; from < ids.length; from += 20) {
    const answers = await Promise.all(
      ids.slice(from, from + 20).map((sid) => put(sid, { send_at, request: messageOf("alice", { cid, body: sid }) })),
    );
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([201]);
  }
}

/** Expects that what was sent is in the conversation once, under the id that is told, and nothing else is. */
async function expectSentOnce(org: Organization, cid: string, sent: string[]): Promise<ScheduledSend[]> {
  const messages = await org.history(cid);
  expect(messages.map(({ body }) => body).toSorted()).toEqual(sent.toSorted());
  const all = await readList<ScheduledSend>(org.herald, org.path("scheduled"));
  const told = all.filter(({ state }) => state === "sent");
  expect(told.map(({ id, server_mid }) => [id, server_mid]).toSorted()).toEqual(
    messages.map(({ body, _id }) => [body, _id]).toSorted(),
  );
  return told;
}

// Less than what PostgreSQL grants to a transaction whose node is silent: nobody waits for that.
const takenOverMs = 9_000;

/** How late a send may be on a busy machine: far less than any hour of a wrong clock. */
const lateMs = 10_000;

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  describe("scheduled sends of three nodes", () => {
    test.each([-5, 15, 40, 90])("are sent once if two nodes are killed %p ms after the time", async (afterMs) => {
      await using cluster = await startCluster({ nodes: 3, postgres, nats });
      const org = await createOrganization(cluster.node(0).herald);
      const cid = await org.conversation(["alice", "bob"]);
      const last = await through(cluster, 2, org);
      using bob = await last.socket("bob");
      const ids = idsOf(300);
      const send_at = inMs(5_000);
      await scheduleAll(org, cid, ids, send_at);
      const scheduledAt = Date.now();
      await until(send_at, afterMs);
      await Promise.all([cluster.node(0).kill(), cluster.node(1).kill()]);
      for (const sid of ids) expect((await scheduling(last).ended(sid)).state).toBe("sent");
      const sent = await expectSentOnce(last, cid, ids);
      const latest = Math.max(...sent.map(({ sent_at }) => Date.parse(sent_at ?? "")));
      expect(latest - Math.max(Date.parse(send_at), scheduledAt)).toBeLessThan(takenOverMs);
      const heard: string[] = [];
      while (heard.length < ids.length) heard.push((await bob.next()).message?.body ?? "");
      expect(heard.toSorted()).toEqual(ids.toSorted());
      await last.expectNothingElse(bob);
    });

    test("are sent as soon as a node is up, if none was at the time", async () => {
      await using cluster = await startCluster({ nodes: 2, postgres, nats });
      const org = await createOrganization(cluster.node(0).herald);
      const cid = await org.conversation(["alice"]);
      const send_at = inMs(600);
      await scheduleAll(org, cid, idsOf(10), send_at);
      for (const node of cluster.nodes) await node.kill();
      await until(send_at, 300);
      await cluster.node(1).start();
      const startedAt = Date.now();
      const later = await through(cluster, 1, org);
      for (const sid of idsOf(10)) await scheduling(later).ended(sid);
      expect(Date.now() - startedAt).toBeLessThan(lateMs);
      await expectSentOnce(later, cid, idsOf(10));
    });

    test("are sent or cancelled, never both, when they are cancelled on another node at that moment", async () => {
      await using cluster = await startCluster({ nodes: 3, postgres, nats });
      const org = await createOrganization(cluster.node(0).herald);
      const cid = await org.conversation(["alice"]);
      const [second, third] = [await through(cluster, 1, org), await through(cluster, 2, org)];
      const ids = idsOf(120);
      const send_at = inMs(2_000);
      await scheduleAll(org, cid, ids, send_at);
      await until(send_at, -20);
      const cancelled: string[] = [];
      const late: string[] = [];
      await Promise.all(
        ids.toReversed().map(async (sid, index) => {
          const answer = await scheduling(index % 2 === 0 ? second : third).cancel(sid);
          if (answer.status === 204) cancelled.push(sid);
          else {
            expectProblem(answer, 409, "already_sent");
            late.push(sid);
          }
        }),
      );
      for (const sid of ids) await scheduling(org).ended(sid);
      await expectSentOnce(org, cid, late);
      for (const sid of cancelled) expect((await scheduling(org).get(sid)).body.state).toBe("cancelled");
    });

    test("are replaced or sent, never both, when they are replaced on another node at that moment", async () => {
      await using cluster = await startCluster({ nodes: 2, postgres, nats });
      const org = await createOrganization(cluster.node(0).herald);
      const cid = await org.conversation(["alice"]);
      const { put, ended, messageOf } = scheduling(await through(cluster, 1, org));
      const ids = idsOf(60);
      const send_at = inMs(1_500);
      await scheduleAll(org, cid, ids, send_at);
      await until(send_at, -20);
      const answers = await Promise.all(
        ids.map(async (sid) => {
          const request = messageOf("alice", { cid, body: `new ${sid}` });
          return [sid, (await put(sid, { send_at, request })).status] as const;
        }),
      );
      for (const sid of ids) await ended(sid);
      const expected = answers.map(([sid, status]) => (status === 200 ? `new ${sid}` : sid));
      expect(answers.every(([, status]) => status === 200 || status === 409)).toBe(true);
      expect((await org.history(cid)).map(({ body }) => body).toSorted()).toEqual(expected.toSorted());
    });
  });

  const clocks = [createSteppedClock(), createSteppedClock()];
  const [ahead, behind] = clocks;
  if (ahead !== undefined && behind !== undefined) {
    describe("scheduled sends of nodes whose clocks are an hour ahead and an hour behind", () => {
      test("are sent at their time by the database's clock, whichever node they were scheduled on", async () => {
        using _clocks = ahead;
        using _others = behind;
        ahead.set(hourSeconds);
        behind.set(-hourSeconds);
        const env = (index: number) => clocks[index]?.env ?? {};
        await using cluster = await startCluster({ nodes: 2, postgres, nats, env });
        const org = await createOrganization(cluster.node(0).herald);
        const cid = await org.conversation(["alice"]);
        const other = await through(cluster, 1, org);
        const send_at = inMs(1_500);
        await scheduleAll(org, cid, ["by the one ahead"], send_at);
        await scheduleAll(other, cid, ["by the one behind"], send_at);
        await scheduleAll(other, cid, ["not yet"], inMs(1_800_000));
        const ids = ["by the one ahead", "by the one behind"];
        for (const sid of ids) await scheduling(org).ended(sid);
        for (const { sent_at, created_at } of await expectSentOnce(org, cid, ids)) {
          expect(Date.parse(sent_at ?? "") - Date.parse(send_at)).toBeWithin(0, lateMs);
          expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(60_000);
        }
        ahead.set(-hourSeconds); // a step must not change anything either
        behind.set(hourSeconds);
        const next = inMs(1_000);
        await scheduleAll(org, cid, ["after the step"], next);
        const { sent_at } = await scheduling(other).ended("after the step");
        expect(Date.parse(sent_at ?? "") - Date.parse(next)).toBeWithin(0, lateMs);
        expect((await scheduling(org).get("not yet")).body.state).toBe("waiting");
      });
    });
  }
}
