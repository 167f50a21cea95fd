import { describe, expect, test } from "bun:test";
import { expectClosed, openSocket, type Socket } from "../../harness/clients/socket.ts";
import { requestSse } from "../../harness/clients/sse.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { type Answer, type Herald, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const burst = 20;
const herald = useHerald({
  oneNode: "each node counts the refusals of an address by itself",
  env: {
    HERALD_LIMIT_REFUSALS_PER_SECOND: "1",
    HERALD_LIMIT_REFUSALS_BURST: String(burst),
    HERALD_TRUSTED_PROXIES: "127.0.0.1",
  },
});

/** A caller at an address of its own, so that no test uses up what another needs. */
function callerAt({ url, http }: Herald, address: string) {
  const from = { "X-Forwarded-For": address };
  return {
    call: (key: string) => http("GET", "/admin/organizations", { headers: { ...from, "Admin-Api-Key": key } }),
    stream: (token: string) => requestSse(url, { ...from, Authorization: `Bearer ${token}` }),
    socket: (token?: string) =>
      openSocket(url, { headers: { ...from, ...(token !== undefined && { Authorization: `Bearer ${token}` }) } }),
    /** Makes calls with a wrong key until no more are checked. */
    async useUp(): Promise<void> {
      const calls = Array.from({ length: burst * 2 }, () =>
        http("GET", "/admin/organizations", { headers: { ...from, "Admin-Api-Key": "wrong" } }),
      );
      const answers = await Promise.all(calls);
      expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(burst);
    },
  };
}

/** Repeats what is refused until it is so unchecked: one more is checked each second, which a busy machine may take. */
const unchecked = <Outcome>(attempt: () => Promise<Outcome | undefined>) =>
  eventually(attempt, "a refusal without a check", undefined, 0);

/** The first call with a wrong key that is refused with 429. */
const uncheckedCall = (call: () => Promise<Answer<unknown>>) =>
  unchecked(async () => {
    const answer = await call();
    if (answer.status === 429) return answer;
    expectProblem(answer, 401, "unauthorized");
    return undefined;
  });

/** Waits until a socket with a wrong token is closed with 4429. */
const uncheckedSocket = (open: () => Promise<Socket>) =>
  unchecked(async () => {
    using socket = await open();
    const { code } = await socket.closed;
    expect([4401, 4429]).toContain(code);
    return code === 4429 || undefined;
  });

async function setUp(address: string) {
  const org: Organization = await createOrganization(herald());
  return { org, caller: callerAt(herald(), address) };
}

describe("the refusals of one address", () => {
  test("are limited to a burst; further calls with a wrong key get 429 unchecked, and others are served", async () => {
    const { caller } = await setUp("192.0.2.1");
    await caller.useUp();
    const answer = await uncheckedCall(() => caller.call("wrong"));
    expectProblem(answer, 429, "rate_limited");
    expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(answer.headers.get("ratelimit")).toMatch(/^"refusals";r=0;t=\d+$/);
    expect(answer.headers.get("ratelimit-policy")).toBe('"refusals";q=1;w=1');
    expect((await caller.call(herald().key)).status).toBe(200);
    expectProblem(await callerAt(herald(), "192.0.2.2").call("wrong"), 401, "unauthorized");
  });

  test("count for a whole IPv6 /64, and for no other", async () => {
    const { caller } = await setUp("2001:db8:1:2::1");
    await caller.useUp();
    const neighbour = callerAt(herald(), "2001:db8:1:2::2");
    expectProblem(await uncheckedCall(() => neighbour.call("wrong")), 429, "rate_limited");
    expectProblem(await callerAt(herald(), "2001:db8:1:3::1").call("wrong"), 401, "unauthorized");
  });

  test("count for tokens too: streams get 429, sockets 4429, by header and by frame", async () => {
    const { org, caller } = await setUp("192.0.2.3");
    const token = await org.token("alice");
    using before = await caller.socket(token);
    const stream = await uncheckedCall(async () => {
      const answer = await caller.stream("wrong");
      if ("sse" in answer) throw new Error("a stream was granted to a wrong token");
      return answer.refused;
    });
    expectProblem(stream, 429, "rate_limited");
    await uncheckedSocket(() => caller.socket("wrong"));
    await unchecked(async () => {
      using byFrame = await caller.socket();
      const { error } = await byFrame.request("connect", { token: "wrong" });
      if (error?.status === 401) return undefined;
      expect(error).toMatchObject({ status: 429, code: "rate_limited" });
      await expectClosed(byFrame, 4429);
      return true;
    });
    await before.expectSilence(); // open ones stay
  });

  test("refuse no valid token: streams and sockets of others at that address open, by header and by frame", async () => {
    const { org, caller } = await setUp("192.0.2.4");
    const token = await org.token("alice");
    await caller.useUp();
    await uncheckedSocket(() => caller.socket("wrong"));
    using byHeader = await caller.socket(token);
    await byHeader.expectSilence();
    using byFrame = await caller.socket();
    expect((await byFrame.request("connect", { token })).success).toBe(true);
    const answer = await caller.stream(token);
    if (!("sse" in answer)) throw new Error(`a stream was refused to a valid token: ${answer.refused.text}`);
    using stream = answer.sse;
    const cid = await org.conversation(["alice"]);
    await org.sent("alice", { cid, body: "x" });
    for (const listener of [byHeader, byFrame, stream]) expect((await listener.next()).message?.body).toBe("x");
  });

  test("do not count a valid token that was revoked: it is refused as such, and nobody else is", async () => {
    const { org, caller } = await setUp("192.0.2.5");
    const token = await org.token("alice");
    await herald().admin("DELETE", org.path("users", "alice", "sessions"));
    for (let count = 0; count < burst * 2; count++) {
      const answer = await caller.stream(token);
      if ("sse" in answer) throw new Error("a stream was granted to a revoked token");
      expectProblem(answer.refused, 401, "unauthorized");
    }
    expectProblem(await caller.call("wrong"), 401, "unauthorized");
  });
});
