import { describe, expect, test } from "bun:test";
import { uniqueId } from "../../harness/random.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

const erase = (org: Organization, uid: string) => herald().admin("DELETE", `${org.path("users", uid)}?messages=erase`);
const bodiesOf = async (org: Organization, cid: string) => (await org.history(cid)).map(({ body }) => body);

describe("DELETE of a user with messages=erase", () => {
  test("takes back all that the user wrote, tells the conversations, and leaves everything of others", async () => {
    const org = await createOrganization(herald());
    const [room, gone] = [await org.conversation(["alice", "bob"]), await org.conversation(["alice", "carol"])];
    const own: string[] = [];
    for (let count = 0; count < 101; count++)
      own.push((await org.sent("alice", { cid: room, body: "own" })).server_mid);
    await org.edited("alice", { id: own[0], body: "own, edited" });
    await org.sent("bob", { cid: room, body: "bob's" });
    await org.sent("alice", { cid: gone, body: "of a deleted conversation" });
    await herald().admin("DELETE", org.path("conversations", gone));
    using bob = await org.socket("bob");
    expect((await erase(org, "alice")).status).toBe(204);
    const recalled = [await bob.next(), await bob.next()].map(({ message_delete: recall }) => recall);
    expect(recalled.map((recall) => recall?.ids.length)).toEqual([100, 1]);
    expect(recalled.flatMap((recall) => recall?.ids ?? [])).toEqual(own);
    expect(recalled[0]).toMatchObject({ cid: room, from: "alice", type: "all" });
    await org.expectNothingElse(bob);
    expect(await bodiesOf(org, room)).toEqual(["bob's"]);
    expectProblem(await herald().admin("GET", org.path("users", "alice")), 404, "user_not_found");
  });

  test("can be repeated after the user was deleted, counts what it erased, and refuses who never was", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    for (const body of ["one", "two"]) await org.sent("alice", { cid, body });
    expect((await herald().admin("DELETE", org.path("users", "alice"))).status).toBe(204);
    expect(await bodiesOf(org, cid)).toEqual(["two", "one"]);
    for (let call = 0; call < 2; call++) expect((await erase(org, "alice")).status).toBe(204);
    expect(await bodiesOf(org, cid)).toEqual([]);
    const query = `/admin/audit?organization=${org.id}&operation=deleteUser&result=done`;
    const { items } = (await herald().admin<{ items: { target: { erased?: string } }[] }>("GET", query)).body;
    expect(items.map(({ target }) => target.erased)).toEqual(["0", "2", undefined]);
    expectProblem(await erase(org, "nobody"), 404, "user_not_found");
    expectProblem(await erase(await createOrganizationOf("gone"), "alice"), 404, "organization_not_found");
    const wrong = await herald().admin("DELETE", `${org.path("users", "bob")}?messages=all`);
    expectProblem(wrong, 422, "invalid_request");
  });

  test("does not end the user's new life under the same id", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await org.sent("alice", { cid, body: "before" });
    expect((await erase(org, "alice")).status).toBe(204);
    await org.join(cid, "alice");
    await org.sent("alice", { cid, body: "after" });
    expect(await bodiesOf(org, cid)).toEqual(["after"]);
  });
});

async function createOrganizationOf(name: string): Promise<Organization> {
  const org = await createOrganization(herald(), uniqueId(name));
  await herald().admin("DELETE", org.path());
  return org;
}
