import { describe, expect, test } from "bun:test";
import { rawHttp } from "../../harness/clients/raw-http.ts";
import { OPCODE, openRawSocket } from "../../harness/clients/raw-socket.ts";
import { expectClosed, openSocket } from "../../harness/clients/socket.ts";
import { within } from "../../harness/deadline.ts";
import { ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

// Everything that takes real seconds, together, so that these tests wait at the same time.
const herald = useHerald({
  // Five seconds for a pong, as the tests answer pings themselves and are not always quick.
  env: { HERALD_LIMIT_PING_SECONDS: "1", HERALD_LIMIT_PONG_SECONDS: "5", HERALD_LIMIT_IDLE_SECONDS: "10" },
});

describe("in time", () => {
  test.concurrent("a socket that does not connect within 10 seconds is closed with 4408, and one that does is not", async () => {
    const org = await createOrganization(herald());
    using silent = await openSocket(herald().url, { uid: "silent" });
    using busy = await openSocket(herald().url, { uid: "busy" });
    busy.send({ request: { ping: {}, id: "p" } });
    using alice = await org.socket("alice");
    await Promise.all([expectClosed(silent, 4408, 30_000), expectClosed(busy, 4408, 30_000)]);
    await alice.expectSilence();
  });

  test.concurrent("a socket is told once before its token expires, and closed with 4401 afterwards", async () => {
    const org = await createOrganization(herald());
    const { socket, response } = await org.connect("alice", { ttlSeconds: 3 });
    using alice = socket;
    // A token may be accepted for the clock skew of 30 s after its expiry.
    await expectClosed(alice, 4401, 50_000);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(response.expires_at ?? ""));
    const sessions = alice.events.filter((event) => event.session !== undefined);
    expect(sessions).toEqual([{ session: { expires_at: response.expires_at ?? "" } }]);
    expect(sessions[0]?.session?.expires_at).toMatch(ISO_MILLISECONDS);
  });

  test.concurrent("a socket that connects again with a fresh token outlives its first one, and misses nothing", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using left = await org.socket("alice", { ttlSeconds: 3 });
    const { socket, response: first } = await org.connect("alice", { ttlSeconds: 3 });
    using extended = socket;
    const again = await extended.request("connect", { token: await org.token("alice", 600) });
    expect(again).toMatchObject({ success: true, user_id: "alice", organization_id: org.id });
    expect(Date.parse(again.expires_at ?? "")).toBeGreaterThan(Date.parse(first.expires_at ?? ""));
    await org.sent("alice", { cid, body: "before" });
    await expectClosed(left, 4401, 50_000);
    await org.sent("alice", { cid, body: "after" });
    expect((await extended.request("ping")).pong).toEqual({});
    await extended.next((event) => event.message?.body === "after");
    expect(extended.events.filter((event) => event.message !== undefined).map((event) => event.message?.body)).toEqual([
      "before",
      "after",
    ]);
  });

  test.concurrent("a stream ends when its token has expired", async () => {
    const org = await createOrganization(herald());
    using stream = await org.sse("alice", { ttlSeconds: 3 });
    await within(stream.closed, "the stream to end", 50_000);
  });

  test.concurrent("a socket is pinged at the interval, and stays open while it answers", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using raw = await openRawSocket(herald().url, { token: await org.token("alice") });
    for (let beat = 0; beat < 4; beat += 1) await raw.frames.next((frame) => frame.opcode === OPCODE.ping, "a ping");
    await org.sent("alice", { cid, body: "still here" });
    const frame = await raw.frames.next((frame) => frame.opcode === OPCODE.text, "the message");
    expect(frame.payload.toString()).toContain("still here");
  });

  test.concurrent("a socket that never answers a ping is cut, even if it takes what is sent", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    using raw = await openRawSocket(herald().url, { token: await org.token("alice"), answersPings: false });
    let isOpen = true;
    void raw.ended.then(() => {
      isOpen = false;
    });
    // Written to continuously, so that only its silence counts.
    const writing = (async () => {
      while (isOpen) {
        await org.sent("bob", { cid, body: "x" });
        await Bun.sleep(200);
      }
    })();
    await within(raw.ended, "the silent peer to be cut", 45_000);
    await writing;
    await org.sent("bob", { cid, body: "end" });
    await bob.next((event) => event.message?.body === "end");
  });

  test.concurrent("a request that stops half-way is abandoned after the idle time", async () => {
    const { host } = new URL(herald().url);
    const head = `POST /admin/message HTTP/1.1\r\nHost: ${host}\r\nAdmin-Api-Key: ${herald().key}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
    const answers = await Promise.all([
      rawHttp(herald().url, [head, '{"a":'], "the end of a half request", 50_000),
      rawHttp(herald().url, ["GET /heal"], "the end of half a line", 50_000),
    ]);
    for (const answer of answers) expect([undefined, 400, 408]).toContain(answer.status);
  });

  test.concurrent("a quiet stream gets a comment at the interval", async () => {
    const org = await createOrganization(herald());
    using stream = await org.sse("alice");
    for (let beat = 0; beat < 4; beat += 1) await stream.comments.next(undefined, "a comment");
    expect(stream.events).toEqual([]);
  });
});
