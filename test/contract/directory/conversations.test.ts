import { describe, expect, test } from "bun:test";
import type { Noun } from "../../harness/clients/wire.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald();

/** The participants. The contract leaves open whether an item is the id or an object that contains it. */
async function participants(org: Organization, cid: string): Promise<string[]> {
  const items = await readList<string | { id: string }>(herald(), org.path("conversations", cid, "participants"));
  return items.map((item) => (typeof item === "string" ? item : item.id)).sort();
}

describe("conversations", () => {
  test("are created by PUT with 201, updated with 200, and read as {id,name,created_at}", async () => {
    const org = await createOrganization(herald());
    const created = await herald().admin<Noun>("PUT", org.path("conversations", "c"), {});
    expect(created.status).toBe(201);
    expect(created.body).toEqual({ id: "c", name: null, created_at: expect.stringMatching(ISO_MILLISECONDS) });
    const named = await herald().admin<Noun>("PUT", org.path("conversations", "c"), { name: "General" });
    expect(named.status).toBe(200);
    expect(named.body).toEqual({ ...created.body, name: "General" });
    expect((await herald().admin<Noun>("GET", org.path("conversations", "c"))).body).toEqual(named.body);
    expect(await readList<Noun>(herald(), org.path("conversations"))).toEqual([named.body]);
    expect(await participants(org, "c")).toEqual([]);
  });

  test("take participants as a set: duplicates collapse, another PUT replaces them, one without leaves them", async () => {
    const org = await createOrganization(herald());
    const put = (body: unknown) => herald().admin("PUT", org.path("conversations", "c"), body);
    await put({ participants: ["alice", "bob", "alice"] });
    expect(await participants(org, "c")).toEqual(["alice", "bob"]);
    await put({ participants: ["bob", "carol"] });
    expect(await participants(org, "c")).toEqual(["bob", "carol"]);
    await put({ name: "General" });
    expect(await participants(org, "c")).toEqual(["bob", "carol"]);
    await put({ participants: [] });
    expect(await participants(org, "c")).toEqual([]);
    expect((await herald().admin<Noun>("GET", org.path("conversations", "c"))).body.name).toBe("General");
  });

  test("create the users they name, and leave existing ones unchanged", async () => {
    const org = await createOrganization(herald());
    await herald().admin("PUT", org.path("users", "alice"), { name: "Alice" });
    await org.conversation(["alice", "bob"]);
    const users = await readList<Noun>(herald(), org.path("users"));
    expect(users.map((user) => [user.id, user.name]).sort()).toEqual([
      ["alice", "Alice"],
      ["bob", null],
    ]);
  });

  test("refuse participants that are not identifiers, and then change nothing", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice"], "c");
    const put = (body: unknown) => herald().admin("PUT", org.path("conversations", "c"), body);
    expectProblem(await put({ participants: "bob" }), 422, "invalid_request", "/participants");
    expectProblem(await put({ participants: ["bob", 1] }), 422, "invalid_request", "/participants/1");
    expectProblem(await put({ participants: ["bob", ""] }), 422, "invalid_request", "/participants/1");
    expectProblem(await put({ participants: null }), 422, "invalid_request", "/participants");
    expectProblem(await put({ participants: ["bob"], members: [] }), 422, "invalid_request");
    expectProblem(await put({ name: 1 }), 422, "invalid_request", "/name");
    expect(await participants(org, "c")).toEqual(["alice"]);
    expect((await readList<Noun>(herald(), org.path("users"))).map((user) => user.id)).toEqual(["alice"]);
  });

  test("gain and lose participants one by one, repeatedly with the same result", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    await org.user("bob");
    const bob = org.path("conversations", cid, "participants", "bob");
    for (const status of [201, 200]) expect((await herald().admin("PUT", bob)).status).toBe(status);
    expect(await participants(org, cid)).toEqual(["alice", "bob"]);
    expect((await herald().admin("DELETE", bob)).status).toBe(204);
    expect((await herald().admin("DELETE", bob)).status).toBe(404);
    expect(await participants(org, cid)).toEqual(["alice"]);
  });

  test("list their participants page by page", async () => {
    const org = await createOrganization(herald());
    const uids = Array.from({ length: 25 }, (_, index) => `user ${String(index).padStart(2, "0")}`);
    const cid = await org.conversation(uids);
    for (const limit of [1, 7, 25, 26]) {
      const items = await readList<string | { id: string }>(
        herald(),
        org.path("conversations", cid, "participants"),
        limit,
      );
      expect(items.map((item) => (typeof item === "string" ? item : item.id)).sort()).toEqual(uids);
    }
  });

  test("of the same id in two organizations are distinct", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    await org.conversation(["alice"], "c");
    await other.conversation(["bob"], "c");
    expect(await participants(org, "c")).toEqual(["alice"]);
    await herald().admin("DELETE", other.path("conversations", "c"));
    expect(await participants(org, "c")).toEqual(["alice"]);
  });

  test("are deleted with 204, then gone: for reading, for sending, and for their participants", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const kept = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    expect((await herald().admin("DELETE", org.path("conversations", cid))).status).toBe(204);
    expectProblem(await herald().admin("GET", org.path("conversations", cid)), 404, "conversation_not_found");
    expectProblem(await herald().admin("DELETE", org.path("conversations", cid)), 404, "conversation_not_found");
    expectProblem(
      await herald().admin("GET", org.path("conversations", cid, "messages")),
      404,
      "conversation_not_found",
    );
    expectProblem(await org.send<unknown>("alice", { cid, body: "x" }), 404, "conversation_not_found");
    expect((await bob.request("conversation_list")).conversations?.map((item) => item._id)).toEqual([kept]);
    await org.sent("alice", { cid: kept, body: "x" });
    expect((await bob.next()).message?.cid).toBe(kept);
  });

  test("that were deleted and created again reach only their new participants", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    using carol = await org.socket("carol");
    await org.sent("alice", { cid, body: "old" });
    expect((await bob.next()).message?.body).toBe("old");
    await herald().admin("DELETE", org.path("conversations", cid));
    await org.conversation(["alice", "carol"], cid);
    await org.sent("alice", { cid, body: "new" });
    expect((await carol.next()).message?.body).toBe("new");
    await org.expectNothingElse(bob, carol);
  });
});
