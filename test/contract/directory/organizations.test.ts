import { describe, expect, test } from "bun:test";
import { expectClosed } from "../../harness/clients/socket.ts";
import type { Noun } from "../../harness/clients/wire.ts";
import { uniqueId } from "../../harness/random.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald();

const path = (id: string) => `/admin/organizations/${encodeURIComponent(id)}`;

describe("organizations", () => {
  test("are created by PUT with 201, updated with 200, and read as {id,name,created_at}", async () => {
    const id = uniqueId("org");
    const created = await herald().admin<Noun>("PUT", path(id), {});
    expect(created.status).toBe(201);
    expect(created.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(created.body).toEqual({ id, name: null, created_at: expect.stringMatching(ISO_MILLISECONDS) });
    const named = await herald().admin<Noun>("PUT", path(id), { name: "Acme 🚀" });
    expect(named.status).toBe(200);
    expect(named.body).toEqual({ ...created.body, name: "Acme 🚀" });
    const read = await herald().admin<Noun>("GET", path(id));
    expect(read.status).toBe(200);
    expect(read.body).toMatchObject(named.body);
  });

  test("may be created with a name at once", async () => {
    const id = uniqueId("org");
    const created = await herald().admin<Noun>("PUT", path(id), { name: "Acme" });
    expect(created.status).toBe(201);
    expect(created.body.name).toBe("Acme");
  });

  test("are created once if many ask at once", async () => {
    const id = uniqueId("org");
    const answers = await Promise.all(Array.from({ length: 20 }, () => herald().admin<Noun>("PUT", path(id), {})));
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array<number>(19).fill(200), 201]);
    expect(new Set(answers.map((answer) => answer.body.created_at)).size).toBe(1);
  });

  test("refuse names that are not text, and unknown members", async () => {
    const id = uniqueId("org");
    expectProblem(await herald().admin("PUT", path(id), { name: 1 }), 422, "invalid_request", "/name");
    expectProblem(await herald().admin("PUT", path(id), { name: ["x"] }), 422, "invalid_request", "/name");
    expectProblem(await herald().admin("PUT", path(id), { title: "x" }), 422, "invalid_request");
    expectProblem(await herald().admin("GET", path(id)), 404, "organization_not_found");
  });

  test("refuse unknown query parameters", async () => {
    const org = await createOrganization(herald());
    expectProblem(await herald().admin("GET", `${org.path()}?verbose=1`), 422, "invalid_request");
    expectProblem(await herald().admin("PUT", `${org.path()}?dry=1`, {}), 422, "invalid_request");
    expectProblem(await herald().admin("DELETE", `${org.path()}?force=1`), 422, "invalid_request");
    expectProblem(
      await herald().admin("POST", "/admin/message?sync=1", {
        organizationId: org.id,
        senderId: "a",
        message: { cid: "c", body: "x" },
      }),
      422,
      "invalid_request",
    );
    expect((await herald().admin("GET", org.path())).status).toBe(200);
  });

  test("are listed", async () => {
    const org = await createOrganization(herald());
    const listed = await readList<Noun>(herald(), "/admin/organizations");
    const { id, name, created_at } = (await herald().admin<Noun>("GET", org.path())).body;
    expect(listed.find((item) => item.id === org.id)).toEqual({ id, name, created_at });
  });

  test("are deleted with 204, then gone with everything in them", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await org.sent("alice", { cid, body: "x" });
    const deleted = await herald().admin("DELETE", org.path());
    expect(deleted.status).toBe(204);
    expect(deleted.text).toBe("");
    expectProblem(await herald().admin("GET", org.path()), 404, "organization_not_found");
    expectProblem(await herald().admin("DELETE", org.path()), 404, "organization_not_found");
    expectProblem(await org.send<unknown>("alice", { cid, body: "x" }), 404, "organization_not_found");
    expect((await readList<Noun>(herald(), "/admin/organizations")).map((item) => item.id)).not.toContain(org.id);
  });

  test("close their connections with 4403 when deleted, and accept none of their tokens any more", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    using alice = await org.socket("alice");
    using stream = await org.sse("bob");
    using neighbour = await other.socket("alice");
    const token = await org.token("alice");
    await herald().admin("DELETE", org.path());
    await expectClosed(alice, 4403);
    await stream.closed;
    const answer = await herald().http("GET", "/sse", { headers: { Authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(401);
    await other.expectNothingElse(neighbour);
  });

  test("deleted and created again, accept no earlier token of any user, and accept new ones at once", async () => {
    const first = await createOrganization(herald());
    const stale = await Promise.all(["alice", "bob"].map((uid) => first.token(uid)));
    await herald().admin("DELETE", first.path());
    const second = await createOrganization(herald(), first.id);
    await second.user("alice");
    for (const token of stale)
      expectProblem(
        await herald().http("GET", "/sse", { headers: { Authorization: `Bearer ${token}` } }),
        401,
        "unauthorized",
      );
    using alice = await second.socket("alice");
    await second.expectNothingElse(alice);
  });

  test("deleted and created again, are new, and deliver", async () => {
    const first = await createOrganization(herald());
    const cid = await first.conversation(["alice", "bob"]);
    using stale = await first.socket("bob");
    for (let index = 0; index < 5; index += 1)
      await first.sent("alice", { id: `m-${index}`, cid, body: `old ${index}` });
    await herald().admin("DELETE", first.path());
    await expectClosed(stale, 4403);
    const second = await createOrganization(herald(), first.id);
    expect(await readList<Noun>(herald(), second.path("users"))).toEqual([]);
    expect(await readList<Noun>(herald(), second.path("conversations"))).toEqual([]);
    await second.conversation(["alice", "bob"], cid);
    expect(await second.history(cid)).toEqual([]);
    using bob = await second.socket("bob");
    const answer = await second.send("alice", { id: "m-1", cid, body: "new" });
    expect(answer.status).toBe(201);
    expect(answer.headers.has("idempotent-replayed")).toBe(false);
    expect((await bob.next()).message?.body).toBe("new");
    await second.expectNothingElse(bob);
  });
});
