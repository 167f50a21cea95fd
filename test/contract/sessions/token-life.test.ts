import { describe, expect, test } from "bun:test";
import { expectClosed, openSocket } from "../../harness/clients/socket.ts";
import { requestSse } from "../../harness/clients/sse.ts";
import type { Token } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { TEST_TOKEN_SECRET, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { goodClaims, signToken } from "../../harness/servers/tokens.ts";

const herald = useHerald({ env: { HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET, HERALD_LIMIT_TOKEN_SECONDS: "600" } });

describe("HERALD_LIMIT_TOKEN_SECONDS", () => {
  test("limits what may be requested of Herald, and the default", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const ask = (body: object) => herald().admin<Token>("POST", org.path("users", "alice", "tokens"), body);
    const lifeOf = ({ body }: { body: Token }) => Math.round((Date.parse(body.expires_at) - Date.now()) / 10_000) * 10;
    expect(lifeOf(await ask({ ttl_seconds: 600 }))).toBe(600);
    expect(lifeOf(await ask({}))).toBe(600);
    expectProblem(await ask({ ttl_seconds: 601 }), 422, "invalid_request", "/ttl_seconds");
  });

  test("refuses what others signed for longer, and says why", async () => {
    const org = await createOrganization(herald());
    const good = goodClaims(org.id, "alice");
    const long = await signToken({ ...good, exp: Number(good.iat) + 601 });
    using socket = await openSocket(herald().url);
    const { error } = await socket.request("connect", { token: long });
    expect(error).toMatchObject({ status: 401, code: "unauthorized", message: expect.stringContaining("600 seconds") });
    await expectClosed(socket, 4401);
    const stream = await requestSse(herald().url, { Authorization: `Bearer ${long}` });
    if ("sse" in stream) throw new Error("a stream was granted");
    expectProblem(stream.refused, 401, "unauthorized");
    using other = await openSocket(herald().url);
    expect((await other.request("connect", { token: await signToken(good) })).success).toBe(true);
  });
});
