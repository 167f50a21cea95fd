import { describe, expect, test } from "bun:test";
import { openSse, openStream, requestSse } from "../../harness/clients/sse.ts";
import type { Problem } from "../../harness/clients/wire.ts";
import { expectProblem, messageOf, systemMessageOf } from "../../harness/reading/expectations.ts";
import { readAnswer, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald();

describe("GET /sse", () => {
  test("streams messages with their event name, their _id as id, and the same JSON as a socket gets", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using stream = await org.sse("alice");
    using socket = await org.socket("alice");
    expect(stream.headers.get("content-type")).toMatch(/^text\/event-stream\b/);
    expect(stream.headers.get("cache-control") ?? "").toMatch(/no-(cache|store)/);
    expect(stream.headers.get("x-request-id") ?? "").not.toBe("");
    const ask = await org.sent("bob", { cid, body: "two\nlines", x: { a: 1 } });
    await org.sentSystem("bob", { id: "s-1", uids: ["alice"], x: { b: 2 } });
    messageOf(await stream.next());
    systemMessageOf(await stream.next());
    await socket.next();
    await socket.next();
    const [message, system] = stream.raw;
    expect(message).toEqual({ event: "message", id: ask.server_mid, data: socket.frames.at(-2) ?? "" });
    expect(system).toEqual({ event: "system_message", id: undefined, data: socket.frames.at(-1) ?? "" });
  });

  test("misses nothing sent once it has answered", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    for (let round = 0; round < 15; round += 1) {
      using stream = await org.sse("alice");
      const ask = await org.sent("alice", { cid, body: String(round) });
      expect((await stream.next()).message?._id).toBe(ask.server_mid);
    }
  });

  test("resumes after Last-Event-ID, and says whether it could", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const asks = [
      await org.sent("alice", { cid, body: "1" }),
      await org.sent("alice", { cid, body: "2" }),
      await org.sent("alice", { cid, body: "3" }),
    ];
    using resumed = await org.sse("alice", { lastEventId: asks[0]?.server_mid ?? "" });
    expect(resumed.headers.get("herald-recovered")).toBe("true");
    await org.expectNothingElseAfter(resumed, ["2", "3"]);
    expect(resumed.raw.slice(0, 2).map((event) => event.id)).toEqual(asks.slice(1).map((ask) => ask.server_mid));
    using lost = await org.sse("alice", { lastEventId: "nonsense" });
    expect(lost.headers.get("herald-recovered")).toBe("false");
    await org.expectNothingElse(lost);
  });

  test("resumes after ?lastEventId=, which polyfills of EventSource append; the header overrides it", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const [first, second] = [
      await org.sent("alice", { cid, body: "1" }),
      await org.sent("alice", { cid, body: "2" }),
      await org.sent("alice", { cid, body: "3" }),
    ];
    const headers = { Authorization: `Bearer ${await org.token("alice")}` };
    const open = (query: string, more: Record<string, string> = {}) =>
      openStream(`${herald().url}/sse?${query}`, { ...headers, ...more }, "alice");
    using resumed = await open(`lastEventId=${first?.server_mid}`);
    expect(resumed.headers.get("herald-recovered")).toBe("true");
    await org.expectNothingElseAfter(resumed, ["2", "3"]);
    using overridden = await open(`x=1&lastEventId=${first?.server_mid}`, {
      "Last-Event-ID": second?.server_mid ?? "",
    });
    await org.expectNothingElseAfter(overridden, ["3"]);
    using lost = await open("lastEventId=non%20sense");
    expect(lost.headers.get("herald-recovered")).toBe("false");
    using fresh = await open("lastEventId=");
    expect(fresh.headers.has("herald-recovered")).toBe(false);
    const refused = await fetch(`${herald().url}/sse?lastEventId=${"a".repeat(129)}`, { headers });
    const answer = await readAnswer<Problem>(refused);
    expectProblem(answer, 400, "bad_request");
    expect(answer.body.detail).toContain("lastEventId");
  });

  test("is refused with a 401 problem without a token, with a bad one, or with one in another place", async () => {
    const org = await createOrganization(herald());
    const token = await org.token("alice");
    const attempts: Record<string, string>[] = [
      {},
      { Authorization: "Bearer nonsense" },
      { Authorization: `Basic ${token}` },
      { Authorization: token },
      { Cookie: `token=${token}` },
      { "X-Token": token },
    ];
    for (const headers of attempts) {
      const answer = await requestSse(herald().url, headers);
      if ("sse" in answer) throw new Error(`a stream was granted to ${JSON.stringify(headers)}`);
      expectProblem(answer.refused, 401, "unauthorized");
    }
  });

  test("keeps many streams of many users apart", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    const streams = await Promise.all(["alice", "alice", "bob", "carol", "dave"].map((uid) => org.sse(uid)));
    await org.sent("alice", { cid, body: "x" });
    await org.sentSystem("alice", { id: "s-1", uids: ["dave", "alice"] });
    const heard: Record<string, (string | undefined)[]> = {};
    await org.sentSystem("alice", { id: "end", uids: ["alice", "bob", "carol", "dave"] });
    for (const stream of streams) {
      await stream.next((event) => event.system_message?._id === "end", "the end");
      heard[stream.uid] = stream.events.map((event) => event.message?.body ?? event.system_message?._id);
    }
    expect(heard).toEqual({ alice: ["x", "s-1", "end"], bob: ["x", "end"], carol: ["x", "end"], dave: ["s-1", "end"] });
    for (const stream of streams) stream.close();
  });

  test("costs the others nothing when a client leaves", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    for (let round = 0; round < 10; round += 1) {
      const streams = await Promise.all(Array.from({ length: 5 }, () => org.sse("alice").catch(() => undefined)));
      await org.sent("alice", { cid, body: String(round) });
      for (const stream of streams) stream?.close();
      expect((await bob.next()).message?.body).toBe(String(round));
    }
    await org.expectNothingElse(bob);
  });

  test("accepts no unknown query parameter, and no token there", async () => {
    const org = await createOrganization(herald());
    const token = await org.token("alice");
    using stream = await openSse(herald().url, { Authorization: `Bearer ${token}` }, "alice");
    await org.expectNothingElse(stream);
    const answer = await fetch(`${herald().url}/sse?token=${token}`);
    await answer.body?.cancel();
    expect(answer.status).toBe(401);
  });
});
