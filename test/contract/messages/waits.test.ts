import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  acknowledging,
  counts,
  nodesKnowEachOther,
  sendWaiting as send,
  sendSystemWaiting as sendSystem,
  told,
} from "../../harness/clients/waiting.ts";
import { eventually } from "../../harness/deadline.ts";
import { readSample } from "../../harness/reading/metrics.ts";
import { reportOf } from "../../harness/reading/reports.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(60_000);

const herald = useHerald();
beforeAll(() => nodesKnowEachOther(herald()));

describe("a send with Prefer: wait", () => {
  test("is answered at once, with the same body, when nobody is online", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    const answer = await send(org, { id: "m", cid, body: "x" });
    expect(told(answer)).toEqual([201, "wait=20", counts(3, 0, 0, 0)]);
    expect(Object.keys(answer.body)).toEqual(["ask"]);
    const system = await sendSystem(org, { id: "s", uids: ["bob", "bob", "nobody"] });
    expect(told(system)).toEqual([201, "wait=20", counts(2, 0, 0, 0)]);
    expect(system.body).toEqual({ ack: { mid: "s", t: expect.any(Number) } });
  });

  test("is answered when everyone who is online has it, if no client acknowledges", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol", "dave"]);
    using bob = await org.socket("bob");
    using again = await org.socket("bob");
    using carol = await org.sse("carol");
    using _eve = await org.socket("eve"); // takes no part
    expect(told(await send(org, { cid, body: "x" }))).toEqual([201, "wait=20", counts(4, 2, 2, 0)]);
    for (const listener of [bob, again, carol]) expect((await listener.next()).message?.body).toBe("x");
    const system = await sendSystem(org, { uids: ["bob", "carol", "dave", "eve", "nobody"] });
    expect(told(system)).toEqual([201, "wait=20", counts(5, 3, 3, 0)]);
  });

  test("waits for each connection that has acknowledged something, and no longer", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using bob = await acknowledging(org, "bob");
    using again = await acknowledging(org, "bob");
    using _carol = await org.socket("carol");
    let isAnswered = false;
    const answering = send(org, { cid, body: "x" }).finally(() => {
      isAnswered = true;
    });
    const { message } = await bob.next(({ message }) => message !== undefined);
    await bob.request("ack", { ids: [message?._id] });
    await again.request("ping");
    expect(isAnswered).toBe(false);
    await again.request("ack", { ids: [message?._id] });
    const answer = await answering;
    expect(told(answer)).toEqual([201, "wait=20", counts(3, 2, 2, 1)]);
    await eventually(async () => {
      const { delivery } = await reportOf(org, answer.body.ask.server_mid);
      const { recipients, delivered_users, acknowledged_users } = delivery;
      return Bun.deepEquals([recipients, delivered_users, acknowledged_users], [3, 2, 1]) ? true : undefined;
    }, "the report to agree");
  });

  test("waits for acknowledgements of a system message by its mid", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice", "bob", "carol"]);
    using bob = await acknowledging(org, "bob");
    using carol = await acknowledging(org, "carol");
    const answering = sendSystem(org, { id: "s", uids: ["bob", "carol", "dave"] });
    for (const one of [bob, carol]) {
      await one.next(({ system_message: system }) => system?._id === "s");
      await one.request("ack", { ids: ["s", "of something else"] });
    }
    expect(told(await answering)).toEqual([201, "wait=20", counts(3, 2, 2, 2)]);
  });

  test("counts those whom a system message to a conversation or to everyone reaches", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    await org.conversation(["dave"]);
    using bob = await acknowledging(org, "bob");
    using dave = await acknowledging(org, "dave");
    const acknowledge = async (socket: typeof bob, id: string) => {
      await socket.next(({ system_message: system }) => system?._id === id);
      await socket.request("ack", { ids: [id] });
    };
    const [toConversation] = await Promise.all([sendSystem(org, { id: "c", cid }), acknowledge(bob, "c")]);
    expect(told(toConversation)).toEqual([201, "wait=20", counts(3, 1, 1, 1)]);
    const [toEveryone] = await Promise.all([
      sendSystem(org, { id: "e", everyone: true }),
      acknowledge(bob, "e"),
      acknowledge(dave, "e"),
    ]);
    expect(told(toEveryone)).toEqual([201, "wait=20", counts(4, 2, 2, 2)]);
  });

  test("does not wait for a connection that has gone, and counts only those whom it reached", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    const bob = await acknowledging(org, "bob");
    using carol = await acknowledging(org, "carol");
    using eve = await acknowledging(org, "eve");
    const answering = send(org, { cid, body: "x" });
    const { message } = await carol.next(({ message }) => message !== undefined);
    await eve.request("ack", { ids: [message?._id] }); // who did not get it
    await carol.request("ack", { ids: [message?._id] });
    await bob.next(({ message }) => message !== undefined);
    bob.terminate();
    expect(told(await answering)).toEqual([201, "wait=20", counts(3, 2, 2, 1)]);
  });

  test("is answered as ever if the preference cannot be understood", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using _bob = await acknowledging(org, "bob");
    for (const prefer of ["wait", "wait=", "wait=0", "wait=-1", "wait=1.5", "wait=soon", "await=1", '"wait=1', "=;,"])
      expect(told(await send(org, { cid, body: "x" }, prefer))).toEqual([201, null, null]);
  });

  test("is ignored by a dry run, and by a send that is refused", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using _bob = await acknowledging(org, "bob");
    expect(told(await send(org, { cid, body: "x" }, "wait=20", "?dry_run=true"))).toEqual([200, null, null]);
    expect(told(await send(org, { cid: "no such", body: "x" }))).toEqual([404, null, null]);
    expect(told(await send(org, { cid }))).toEqual([422, null, null]);
  });

  test("is told by a retry, at once, what the report knows", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol", "dave"]);
    using bob = await acknowledging(org, "bob");
    using _carol = await org.sse("carol");
    const answering = send(org, { id: "m", cid, body: "x" });
    const { message } = await bob.next(({ message }) => message !== undefined);
    await bob.request("ack", { ids: [message?._id] });
    const first = await answering;
    expect(told(first)).toEqual([201, "wait=20", counts(4, 2, 2, 1)]);
    await eventually(async () => {
      const { delivery } = await reportOf(org, first.body.ask.server_mid);
      return delivery.delivered_users === 2 ? true : undefined;
    }, "the report");
    const retry = await send(org, { id: "m", cid, body: "x" });
    expect(told(retry)).toEqual([201, "wait=20", counts(4, 2, 2, 1)]);
    expect([retry.body, retry.headers.get("idempotent-replayed")]).toEqual([first.body, "true"]);
    await sendSystem(org, { id: "s", uids: ["carol"] });
    await eventually(async () => {
      const again = await sendSystem(org, { id: "s", uids: ["carol"] });
      return again.headers.get("herald-delivery") === counts(1, 1, 1, 0) ? true : undefined;
    }, "the report of the system message");
  });

  test("whose caller hangs up is delivered all the same", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await acknowledging(org, "bob");
    const leaving = new AbortController();
    const body = JSON.stringify({ organizationId: org.id, senderId: "alice", message: { id: "m", cid, body: "x" } });
    const asking = fetch(`${org.herald.url}/admin/message`, {
      method: "POST",
      headers: { "Admin-Api-Key": org.herald.key, "Content-Type": "application/json", Prefer: "wait=20" },
      body,
      signal: leaving.signal,
    });
    const { message } = await bob.next(({ message }) => message !== undefined);
    leaving.abort();
    await expect(asking).rejects.toThrow();
    const watches = () => readSample(org.herald.url, "herald_held", { what: "watches" });
    await eventually(async () => (await watches()) === 0 || undefined, "no watches to be left");
    await bob.request("ack", { ids: [message?._id] });
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["x"]);
    const again = await org.send("alice", { id: "m", cid, body: "x" });
    expect([again.headers.get("idempotent-replayed"), again.body.ask.server_mid]).toEqual(["true", message?._id ?? ""]);
  });
});
