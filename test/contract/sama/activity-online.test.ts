import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

type Answer = { count?: number; users?: unknown[] };

const ask = (org: Organization, request: object = {}) =>
  herald().admin<Answer>("POST", "/admin/activity/online", { organizationId: org.id, ...request });

describe("POST /admin/activity/online", () => {
  test("counts, or lists users or their ids, who are connected on any node, by id, each once", async () => {
    const org = await createOrganization(herald());
    await herald().admin("PUT", org.path("users", "bob"), { name: "Bob" });
    await org.user("offline");
    expect((await ask(org)).body).toEqual({ users: [] });
    using _bob = await org.socket("bob");
    using _again = await org.socket("bob");
    using _alice = await org.socket("alice");
    const stream = await org.sse("carol");
    const answers = [
      [{}, ["alice", "bob", "carol"]],
      [{ limit: 2 }, ["alice", "bob"]],
      [{ limit: 2, offset: 1 }, ["bob", "carol"]],
      [{ limit: 100, offset: 2 }, ["carol"]],
      [{ offset: 3 }, []],
      [{ offset: 100_000 }, []],
    ] as const;
    for (const [request, ids] of answers) {
      const listed = await ask(org, { userId: "anybody", ...request });
      expect([listed.status, listed.body]).toEqual([
        200,
        {
          users: ids.map((_id) => ({ _id, login: _id === "bob" ? "Bob" : _id, created_at: expect.any(String) })),
        },
      ]);
      expect((await ask(org, { ...request, idsOnly: true })).body).toEqual({ users: [...ids] });
    }
    expect((await ask(org, { count: true, idsOnly: true, limit: 1 })).body).toEqual({ count: 3 });
    stream.close();
  });

  test("lists ten without a limit, and pages through many", async () => {
    const org = await createOrganization(herald());
    const uids = Array.from({ length: 19 }, (_, index) => `u${String(index).padStart(2, "0")}`);
    const sockets = await Promise.all(uids.map((uid) => org.socket(uid)));
    expect((await ask(org, { idsOnly: true })).body.users).toEqual(uids.slice(0, 10));
    const read: unknown[] = [];
    for (let offset = 0; offset < 20; offset += 7)
      read.push(...((await ask(org, { idsOnly: true, limit: 7, offset })).body.users ?? []));
    expect(read).toEqual(uids);
    for (const socket of sockets) socket.terminate();
  });

  test("refuses what it does not know, and organizations that are not the key's or do not exist", async () => {
    const org = await createOrganization(herald());
    for (const [request, pointer] of [
      [{ limit: 0 }, "/limit"],
      [{ limit: 101 }, "/limit"],
      [{ offset: -1 }, "/offset"],
      [{ offset: 100_001 }, "/offset"],
      [{ count: "true" }, "/count"],
      [{ organizationId: "" }, "/organizationId"],
      [{ uids: ["a"] }, "/uids"],
    ] as const) {
      expectProblem(await ask(org, request), 422, "invalid_request", pointer);
    }
    expectProblem(await ask(org, { organizationId: "none" }), 404, "organization_not_found");
    const other = await createOrganization(herald());
    const key = await createKey(herald(), { scopes: ["observe"], organization: other.id });
    const about = (organizationId: string) =>
      callWith<unknown>(herald(), key.key, "POST", "/admin/activity/online", { organizationId, count: true });
    expectProblem(await about(org.id), 403, "organization_forbidden");
    expect((await about(other.id)).body).toEqual({ count: 0 });
  });
});
