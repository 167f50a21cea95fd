import { describe, expect, test } from "bun:test";
import { decodeJwt } from "jose";
import { expectClosed, type Listener, openSocket, type Socket } from "../../harness/clients/socket.ts";
import { requestSse } from "../../harness/clients/sse.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { type Herald, startHerald, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const quota = 20;
const herald = useHerald({
  oneNode: "each node counts what users ask of it",
  env: { HERALD_LIMIT_USER_REQUESTS: String(quota) },
});

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** The number of requests answered before one is refused, which must end the socket. */
async function askUntilRefused(socket: Socket, operation: string, payload: object = {}): Promise<number> {
  for (let answered = 0; answered <= 2 * quota; answered++) {
    const { error } = await socket.request(operation, payload);
    if (error === undefined) continue;
    expect(error).toMatchObject({ status: 429, code: "rate_limited" });
    expect(error.message).toMatch(/^this user has made too many requests.* try again in \d+ s$/);
    const { code, reason } = await socket.closed;
    expect(code).toBe(4429);
    expect(reason).toMatch(/\(requests-per-user\); retry in \d+ s$/);
    return answered;
  }
  throw new Error(`${2 * quota} requests were answered`);
}

async function expectRefused(org: Organization, uid: string): Promise<void> {
  const token = await org.token(uid);
  using byFrame = await openSocket(org.herald.url, { uid });
  const refused = await byFrame.request("connect", { token });
  expect(refused.error).toMatchObject({ status: 429, code: "rate_limited" });
  await expectClosed(byFrame, 4429);
  using byHeader = await openSocket(org.herald.url, { headers: bearer(token), uid });
  expect(await byHeader.closed).toMatchObject({ code: 4429, reason: expect.stringMatching(/retry in \d+ s$/) });
  const answer = await requestSse(org.herald.url, bearer(token), uid);
  if ("sse" in answer) throw new Error("a stream was granted");
  expectProblem(answer.refused, 429, "rate_limited");
  const { headers } = answer.refused;
  expect(headers.get("ratelimit-policy")).toBe(`"requests-per-user";q=${quota};w=60`);
  expect(Number(headers.get("retry-after"))).toBeWithin(1, 121);
}

const large = (org: Organization, cid: string) => org.sent("alice", { cid, body: "x".repeat(60_000) });

describe("the requests of one user", () => {
  test("count over all connections, even closed ones, and for nobody else", async () => {
    const org = await createOrganization(herald());
    const namesake = await createOrganization(herald());
    using first = await org.socket("alice");
    for (let count = 0; count < quota / 2; count++) await first.request("ping");
    first.close();
    using second = await org.socket("alice");
    expect(await askUntilRefused(second, "conversation_list")).toBe(quota / 2); // two connects cost less than one request
    await expectRefused(org, "alice");
    using bob = await org.socket("bob");
    using stranger = await namesake.socket("alice");
    for (const socket of [bob, stranger]) await socket.expectSilence();
  });

  test("leave open and quiet connections alone", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using quiet = await org.socket("alice");
    using stream = await org.sse("alice");
    using greedy = await org.socket("alice");
    await askUntilRefused(greedy, "conversation_list");
    await org.sent("alice", { cid, body: "x" });
    for (const listener of [quiet, stream]) expect((await listener.next()).message?.body).toBe("x");
  });

  test("are weighed by the bytes of their answers", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    for (let count = 0; count < 8; count++) await large(org, cid);
    using alice = await org.socket("alice");
    expect(await askUntilRefused(alice, "message_list", { cid })).toBe(3); // seven units each
  });

  test("include the pages of missed messages, by size, on streams too", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { server_mid: since } = await org.sent("alice", { cid, body: "seen" });
    for (let count = 0; count < 16; count++) await large(org, cid);
    const heard = async (listener: Listener) => {
      for (let count = 0; count < 16; count++) await listener.next();
    };
    for (let round = 0; round < 2; round++) {
      using stream = await org.sse("alice", { lastEventId: since }); // nearly four units
      await heard(stream);
      using socket = await org.socket("alice", { since });
      await heard(socket);
    }
    using socket = await org.socket("alice", { since });
    await heard(socket);
    expect(await askUntilRefused(socket, "ping")).toBe(1);
    await expectRefused(org, "alice");
  });

  test("include the pages of missed messages, by number", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { server_mid: since } = await org.sent("alice", { cid, body: "seen" });
    for (let count = 0; count < 100; count++) await org.sent("alice", { cid, body: "x" });
    const recovered = async () => {
      const socket = await org.socket("alice", { since });
      for (let count = 0; count < 100; count++) await socket.next();
      return socket;
    };
    for (let connects = 1; connects < 33; connects++) (await recovered()).terminate();
    using last = await recovered();
    expect(await askUntilRefused(last, "ping")).toBe(1); // 33 times 0.6 units
  });

  test("count even if nothing can be recovered, as finding that out takes counting", async () => {
    const org = await createOrganization(herald());
    for (let connects = 0; connects < 17; connects++) {
      const { socket, response } = await org.connect("alice", { since: "unknown" });
      expect(response.recovered).toBe(false);
      socket.terminate();
    }
    await expectRefused(org, "alice"); // 17 times 1.2 units
  });

  test("cost little if they are receipts of messages", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { server_mid: id } = await org.sent("alice", { cid, body: "x" });
    using alice = await org.socket("alice");
    for (let count = 0; count < 2 * quota; count++)
      expect((await alice.request("ack", { ids: [id] })).success).toBe(true);
    const ids = Array.from({ length: 100 }, (_, index) => `id-${index}`);
    expect(await askUntilRefused(alice, "ack", { ids })).toBe(8); // two units each
  });

  test("count even if they are refused", async () => {
    const org = await createOrganization(herald());
    using alice = await org.socket("alice");
    for (let count = 0; count < quota; count++)
      expect((await alice.request("message_list", { cid: "nowhere" })).error?.status).toBe(403);
    expect((await alice.request("message_list", { cid: "nowhere" })).error?.status).toBe(429);
    await expectClosed(alice, 4429);
  });

  const revocations = {
    "with all tokens of the user": () => ["sessions"],
    "by its id": (token: string) => ["tokens", String(decodeJwt(token).jti)],
  };

  test.each(Object.entries(revocations))(
    "are not used up by a client whose only token was revoked %s",
    async (_, what) => {
      const org = await createOrganization(herald());
      const stolen = await org.token("alice");
      const kept = await org.token("alice");
      expect((await herald().admin("DELETE", org.path("users", "alice", ...what(stolen)))).status).toBe(204);
      for (let count = 0; count < 6 * quota; count++) {
        const answer = await requestSse(herald().url, bearer(stolen));
        if ("sse" in answer) throw new Error("a stream was granted to a revoked token");
        expectProblem(answer.refused, 401, "unauthorized");
      }
      using alice = await org.socket("alice");
      await alice.expectSilence();
      const other = await requestSse(herald().url, bearer(kept));
      expect("sse" in other).toBe(what(stolen)[0] === "tokens");
    },
  );

  test("by default suffice for all devices of a user to return ten times a minute, each with what it missed", async () => {
    await using server: Herald = await startHerald();
    const org = await createOrganization(server);
    const cid = await org.conversation(["alice"]);
    const { server_mid: since } = await org.sent("alice", { cid, body: "seen" });
    const missed = Array.from({ length: 20 }, (_, index) => `missed ${index}`);
    for (const body of missed) await org.sent("alice", { cid, body });
    for (let round = 0; round < 10; round++) {
      const devices = await Promise.all(Array.from({ length: 20 }, () => org.socket("alice", { since })));
      for (const device of devices) {
        for (const body of missed) expect((await device.next()).message?.body).toBe(body);
        device.close();
      }
      await Promise.all(devices.map(({ closed }) => closed));
    }
    await server.stop();
  });
});
