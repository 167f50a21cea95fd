import { describe, expect, test } from "bun:test";
import { expectClosed } from "../../harness/clients/socket.ts";
import type { Noun, Token } from "../../harness/clients/wire.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald();

describe("users", () => {
  test("are created by PUT with 201, updated with 200, and read as {id,name,created_at}", async () => {
    const org = await createOrganization(herald());
    const created = await herald().admin<Noun>("PUT", org.path("users", "alice"), {});
    expect(created.status).toBe(201);
    expect(created.body).toEqual({ id: "alice", name: null, created_at: expect.stringMatching(ISO_MILLISECONDS) });
    const named = await herald().admin<Noun>("PUT", org.path("users", "alice"), { name: "Alice" });
    expect(named.status).toBe(200);
    expect(named.body).toEqual({ ...created.body, name: "Alice" });
    expect((await herald().admin<Noun>("GET", org.path("users", "alice"))).body).toEqual(named.body);
    expect(await readList<Noun>(herald(), org.path("users"))).toEqual([named.body]);
  });

  test("belong to one organization", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    await herald().admin("PUT", org.path("users", "alice"), { name: "here" });
    expectProblem(await herald().admin("GET", other.path("users", "alice")), 404, "user_not_found");
    expect((await herald().admin("PUT", other.path("users", "alice"), { name: "there" })).status).toBe(201);
    expect((await herald().admin<Noun>("GET", org.path("users", "alice"))).body.name).toBe("here");
  });

  test("refuse names that are not text, unknown members and unknown query parameters", async () => {
    const org = await createOrganization(herald());
    expectProblem(
      await herald().admin("PUT", org.path("users", "alice"), { name: 1 }),
      422,
      "invalid_request",
      "/name",
    );
    expectProblem(await herald().admin("PUT", org.path("users", "alice"), { email: "x" }), 422, "invalid_request");
    expectProblem(await herald().admin("PUT", org.path("users", "alice"), []), 422, "invalid_request");
    expectProblem(await herald().admin("GET", `${org.path("users", "alice")}?expand=1`), 422, "invalid_request");
    expect(await readList<Noun>(herald(), org.path("users"))).toEqual([]);
  });

  test("are deleted with 204, then gone, even from their conversations", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const ask = await org.sent("alice", { cid, body: "stays" });
    expect((await herald().admin("DELETE", org.path("users", "alice"))).status).toBe(204);
    expectProblem(await herald().admin("GET", org.path("users", "alice")), 404, "user_not_found");
    expectProblem(await herald().admin("DELETE", org.path("users", "alice")), 404, "user_not_found");
    expectProblem(await org.send<unknown>("alice", { cid, body: "x" }), 403, "sender_not_participant");
    expectProblem(await org.sendSystem<unknown>("alice", { uids: ["bob"] }), 404, "sender_not_found");
    expect((await org.history(cid)).map((message) => message._id)).toEqual([ask.server_mid]);
    await herald().admin("PUT", org.path("users", "alice"), {});
    expectProblem(await org.send<unknown>("alice", { cid, body: "x" }), 403, "sender_not_participant");
  });

  test("lose their connections with 4403 when deleted, and the others keep theirs", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using alice = await org.socket("alice");
    using stream = await org.sse("alice");
    using bob = await org.socket("bob");
    const token = await org.token("alice");
    await herald().admin("DELETE", org.path("users", "alice"));
    await expectClosed(alice, 4403);
    await stream.closed;
    using late = await org.sse("bob");
    const answer = await fetch(`${herald().url}/sse`, { headers: { Authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(401);
    await answer.body?.cancel();
    await org.sent("bob", { cid, body: "x" });
    for (const listener of [bob, late]) expect((await listener.next()).message?.body).toBe("x");
  });
});

describe("user tokens", () => {
  test("live for an hour by default, and say until when", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const answer = await herald().admin<Token>("POST", org.path("users", "alice", "tokens"), {});
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body).sort()).toEqual(["expires_at", "token"]);
    expect(answer.body.expires_at).toMatch(ISO_MILLISECONDS);
    expect(Math.abs(Date.parse(answer.body.expires_at) - Date.now() - 3_600_000)).toBeLessThan(60_000);
  });

  test("are JWTs with sub, org, aud, exp and typ, signed with HS256", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const answer = await herald().admin<Token>("POST", org.path("users", "alice", "tokens"), { ttl_seconds: 60 });
    const [header, claims] = answer.body.token.split(".").map((part) => (part === "" ? {} : safeJson(part)));
    expect(header).toMatchObject({ alg: "HS256", typ: "JWT" });
    expect(claims).toMatchObject({ sub: "alice", org: org.id, aud: "herald" });
    // RFC 7519 lets a NumericDate have a fraction.
    expect(Math.abs(Number(claims?.exp) - Date.parse(answer.body.expires_at) / 1000)).toBeLessThan(1);
  });

  test("live 1 second to 30 days as requested, and neither shorter nor longer", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    for (const ttl of [1, 2_592_000]) {
      const answer = await herald().admin<Token>("POST", org.path("users", "alice", "tokens"), { ttl_seconds: ttl });
      expect(answer.status).toBe(201);
      expect(Math.abs(Date.parse(answer.body.expires_at) - Date.now() - ttl * 1000)).toBeLessThan(60_000);
    }
    for (const ttl of [0, -1, 2_592_001, 1.5, "60", null, 1e15]) {
      expectProblem(
        await herald().admin("POST", org.path("users", "alice", "tokens"), { ttl_seconds: ttl }),
        422,
        "invalid_request",
        "/ttl_seconds",
      );
    }
    expectProblem(
      await herald().admin("POST", org.path("users", "alice", "tokens"), { ttl: 60 }),
      422,
      "invalid_request",
    );
  });

  test("are all different, and all of them work", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const [first, second] = [await org.socket("alice"), await org.socket("alice")];
    using one = first;
    using two = second;
    await org.expectNothingElse(one, two);
  });
});

function safeJson(part: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString("utf8")) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
