import { describe, expect, test } from "bun:test";
import { expectClosed, openSocket } from "../../harness/clients/socket.ts";
import { requestSse } from "../../harness/clients/sse.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { type Herald, startHerald, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "each node counts its own connections",
  env: { HERALD_LIMIT_CONNECTIONS_PER_USER: "2" },
});

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe("connections", () => {
  test("of one user are limited, sockets and streams together; one more is refused and costs the others nothing", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const token = await org.token("alice");
    using socket = await org.socket("alice");
    using stream = await org.sse("alice");

    using byFrame = await openSocket(herald().url, { uid: "alice" });
    const refused = await byFrame.request("connect", { token });
    expect(refused.error).toMatchObject({ status: 429, code: "rate_limited" });
    await expectClosed(byFrame, 4429);
    using byHeader = await openSocket(herald().url, { headers: bearer(token), uid: "alice" });
    await expectClosed(byHeader, 4429);
    const answer = await requestSse(herald().url, bearer(token), "alice");
    if ("sse" in answer) throw new Error("a third stream was granted");
    expectProblem(answer.refused, 429, "rate_limited");
    expect(answer.refused.headers.get("ratelimit-policy")).toBe('"connections-per-user";q=2');
    expect(answer.refused.headers.get("ratelimit")).toMatch(/;r=0;t=\d+$/);

    await org.sent("alice", { cid, body: "x" });
    for (const listener of [socket, stream]) expect((await listener.next()).message?.body).toBe("x");
  });

  test("of one user do not count against another, nor against the same name elsewhere", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    using one = await org.socket("alice");
    using two = await org.socket("alice");
    using bob = await org.socket("bob");
    using namesake = await other.socket("alice");
    for (const socket of [one, two, bob, namesake]) await socket.expectSilence();
  });

  test("of one user make room when one of them ends", async () => {
    const org = await createOrganization(herald());
    using one = await org.socket("alice");
    using two = await org.socket("alice");
    two.close();
    await two.closed;
    using again = await eventually(() => org.socket("alice").catch(() => undefined), "room for another socket");
    using three = await org.sse("alice").catch(() => undefined);
    expect(three).toBeUndefined();
    one.terminate();
    using stream = await eventually(() => org.sse("alice").catch(() => undefined), "room for a stream after a break");
    stream.close();
    using last = await eventually(() => org.socket("alice").catch(() => undefined), "room for a socket after a stream");
    await again.expectSilence();
    await last.expectSilence();
  });

  test("of one user can be extended at the limit without being counted twice", async () => {
    const org = await createOrganization(herald());
    using one = await org.socket("alice");
    using two = await org.socket("alice");
    for (const socket of [one, two, one, two])
      expect((await socket.request("connect", { token: await org.token("alice") })).success).toBe(true);
  });

  test("from one address are limited, with or without a session", async () => {
    await using server: Herald = await startHerald({ env: { HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "3" } });
    const org = await createOrganization(server);
    using alice = await org.socket("alice");
    using bob = await org.sse("bob");
    using silent = await openSocket(server.url);
    using fourth = await openSocket(server.url);
    await expectClosed(fourth, 4429);
    const answer = await requestSse(server.url, bearer(await org.token("carol")));
    if ("sse" in answer) throw new Error("a fourth connection was granted");
    expectProblem(answer.refused, 429, "rate_limited");
    await org.expectNothingElse(alice, bob);
    silent.close();
    using carol = await eventually(
      () => org.socket("carol").catch(() => undefined),
      "room for another connection from this address",
    );
    await org.expectNothingElse(carol);
    await server.stop();
  });

  test("from one IPv6 /64 count like one address", async () => {
    await using server: Herald = await startHerald({
      env: { HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "1", HERALD_TRUSTED_PROXIES: "127.0.0.1" },
    });
    const from = (value: string) => openSocket(server.url, { headers: { "X-Forwarded-For": value } });
    using one = await from("2001:db8:1:2::1");
    using neighbour = await from("2001:db8:1:2:ffff::9");
    await expectClosed(neighbour, 4429);
    using stranger = await from("2001:db8:1:3::1");
    for (const socket of [one, stranger]) await socket.expectSilence();
    await server.stop();
  });

  test("behind a trusted proxy count for the client that it names; nobody else is believed", async () => {
    await using server: Herald = await startHerald({
      env: { HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "1", HERALD_TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8" },
    });
    const forwarded = (value: string) => openSocket(server.url, { headers: { "X-Forwarded-For": value } });
    using first = await forwarded("198.51.100.1");
    using second = await forwarded("203.0.113.9, 198.51.100.2, 10.0.0.9");
    // What the client wrote before its own address does not make it another client.
    using again = await forwarded("192.0.2.77, 198.51.100.1");
    await expectClosed(again, 4429);
    const org = await createOrganization(server);
    const headers = { ...bearer(await org.token("alice")), "X-Forwarded-For": "192.0.2.78, 198.51.100.2" };
    const stream = await requestSse(server.url, headers);
    if ("sse" in stream) throw new Error("a second connection was granted");
    expectProblem(stream.refused, 429, "rate_limited");
    using proxy = await forwarded("nonsense");
    using proxyAgain = await openSocket(server.url);
    await expectClosed(proxyAgain, 4429);
    for (const socket of [first, second, proxy]) await socket.expectSilence();
    await server.stop();

    await using wary: Herald = await startHerald({ env: { HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "1" } });
    using one = await openSocket(wary.url, { headers: { "X-Forwarded-For": "198.51.100.1" } });
    using other = await openSocket(wary.url, { headers: { "X-Forwarded-For": "198.51.100.2" } });
    await expectClosed(other, 4429);
    await one.expectSilence();
    await wary.stop();
  });
});
