import { describe, expect, test } from "bun:test";
import type { Socket } from "../../harness/clients/socket.ts";
import type { Sse } from "../../harness/clients/sse.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_RECOVERY_MESSAGES: "20" } });

async function roomWith(
  count: number,
): Promise<{ org: Organization; cid: string; ids: string[]; send: (body: string) => Promise<string> }> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const send = async (body: string) => (await org.sent("alice", { cid, body })).server_mid;
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await send(`message ${index}`));
  return { org, cid, ids, send };
}

/** Recovers over a socket and over a stream, which must give the same. */
async function recover(
  org: Organization,
  uid: string,
  since: string,
): Promise<{ recovered: boolean | undefined; listener: Socket | Sse }[]> {
  const { socket, response } = await org.connect(uid, { since });
  const stream = await org.sse(uid, { lastEventId: since });
  return [
    { recovered: response.recovered, listener: socket },
    { recovered: { true: true, false: false }[stream.headers.get("herald-recovered") ?? ""], listener: stream },
  ];
}

async function expectRecovered(
  org: Organization,
  uid: string,
  since: string,
  ids: (string | undefined)[],
): Promise<void> {
  const both = await recover(org, uid, since);
  for (const { recovered, listener } of both) {
    expect(recovered).toBe(true);
    const heard: (string | undefined)[] = [];
    while (heard.length < ids.length) heard.push((await listener.next()).message?._id);
    expect(heard).toEqual(ids);
  }
  await expectNothingElse(org, both);
}

async function expectNotRecovered(org: Organization, uid: string, since: string): Promise<void> {
  const both = await recover(org, uid, since);
  expect(both.map(({ recovered }) => recovered)).toEqual([false, false]);
  await expectNothingElse(org, both);
}

async function expectNothingElse(org: Organization, both: { listener: Socket | Sse }[]): Promise<void> {
  await org.expectNothingElse(...both.map(({ listener }) => listener));
  for (const { listener } of both) listener.close();
}

describe("since and Last-Event-ID", () => {
  test("bring every message after the one named, in order, once, and then new ones", async () => {
    const { org, ids, send } = await roomWith(10);
    await expectRecovered(org, "bob", ids[3] ?? "", ids.slice(4));
    const [first] = await recover(org, "bob", ids[8] ?? "");
    const next = await send("new");
    expect((await first?.listener.next())?.message?._id).toBe(ids[9] ?? "");
    expect((await first?.listener.next())?.message?._id).toBe(next);
  });

  test("bring nothing if nothing was missed, and say so", async () => {
    const { org, ids } = await roomWith(3);
    await expectRecovered(org, "bob", ids[2] ?? "", []);
  });

  test("give exactly the frames that were sent live", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using live = await org.socket("bob");
    const first = await org.sent("alice", { cid, body: "first" });
    await org.sent("alice", {
      cid,
      body: "👋",
      x: { z: 1, a: [1, { b: null }], "": "é" },
      attachments: [{ name: "a", size: 1, content_type: "text/plain" }],
    });
    await live.next();
    await live.next();
    using late = await org.socket("bob", { since: first.server_mid });
    await late.next();
    expect(late.frames.at(-1)).toBe(live.frames.at(-1) ?? "");
  });

  test("cover all of the user's conversations in the organization's order, and no others", async () => {
    const { org, ids } = await roomWith(1);
    const [second, foreign] = [await org.conversation(["alice", "bob"]), await org.conversation(["alice", "carol"])];
    const missed: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      missed.push((await org.sent("alice", { cid: second, body: "x" })).server_mid);
      await org.sent("alice", { cid: foreign, body: "not for bob" });
    }
    await expectRecovered(org, "bob", ids[0] ?? "", missed);
  });

  test("work from a message of a conversation that the user was never in or has left", async () => {
    const { org, cid, ids } = await roomWith(1);
    const foreign = await org.conversation(["alice", "carol"]);
    const mark = await org.sent("alice", { cid: foreign, body: "not for bob" });
    const missed = await org.sent("alice", { cid, body: "missed" });
    const both = await recover(org, "bob", mark.server_mid);
    for (const { recovered, listener } of both) {
      expect(recovered).toBe(true);
      expect((await listener.next()).message?._id).toBe(missed.server_mid);
    }
    await expectNothingElse(org, both);
    await org.leave(cid, "bob");
    await org.sent("alice", { cid, body: "after bob left" });
    await expectRecovered(org, "bob", ids[0] ?? "", []);
  });

  test("answer recovered: false and send nothing old for an unknown id, another organization's, or an invalid one", async () => {
    const { org } = await roomWith(2);
    const other = await roomWith(2);
    for (const since of ["0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "nonsense", "0", "x".repeat(128), other.ids[0] ?? ""])
      await expectNotRecovered(org, "bob", since);
  });

  test("answer recovered: false and send nothing that followed for a system message, which is not kept", async () => {
    const { org, send } = await roomWith(2);
    await org.sentSystem("alice", { id: "s-1", uids: ["bob"] });
    await send("missed");
    await expectNotRecovered(org, "bob", "s-1");
  });

  test("recover as many messages as configured; one more is too large a gap, and the client pages", async () => {
    const { org, cid, ids } = await roomWith(22);
    await expectRecovered(org, "bob", ids[1] ?? "", ids.slice(2));
    await expectNotRecovered(org, "bob", ids[0] ?? "");
    using bob = await org.socket("bob", { since: ids[0] ?? "" });
    const paged: string[] = [];
    for (let after = ids[0] ?? ""; ; ) {
      const { messages = [] } = await bob.request("message_list", { cid, after, limit: 5 });
      paged.push(...messages.map((message) => message._id));
      const last = messages.at(-1);
      if (last === undefined) break;
      after = last._id;
    }
    expect(paged).toEqual(ids.slice(1));
  });

  test("count only the user's own messages as a gap", async () => {
    const { org, ids, send } = await roomWith(1);
    const busy = await org.conversation(["alice", "carol"]);
    for (let index = 0; index < 30; index += 1) await org.sent("alice", { cid: busy, body: "not for bob" });
    const missed = await send("missed");
    await expectRecovered(org, "bob", ids[0] ?? "", [missed]);
  });

  test("are refused if they are not text", async () => {
    const { org } = await roomWith(1);
    for (const since of [1, null, {}, ["x"]]) {
      using socket = await org.socket("bob");
      const response = await socket.request("connect", { token: await org.token("bob"), since });
      expect(response.error?.status).toBe(422);
    }
  });

  test("are answered with recovered only if they were given", async () => {
    const { org, ids } = await roomWith(1);
    const plain = await org.connect("bob");
    expect(plain.response).not.toContainKey("recovered");
    const given = await org.connect("bob", { since: ids[0] ?? "" });
    expect(given.response.recovered).toBe(true);
    using stream = await org.sse("bob");
    expect(stream.headers.has("herald-recovered")).toBe(false);
    plain.socket.terminate();
    given.socket.terminate();
  });
});
