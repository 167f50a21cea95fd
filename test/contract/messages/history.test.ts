import { describe, expect, test } from "bun:test";
import type { Message, Page } from "../../harness/clients/wire.ts";
import { expectMessageShape, expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

async function roomWith(
  count: number,
): Promise<{ org: Organization; cid: string; ids: string[]; page: (query: string) => Promise<Page<Message>> }> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1)
    ids.push((await org.sent("alice", { cid, body: `message ${index}` })).server_mid);
  const page = async (query: string) =>
    (await herald().admin<Page<Message>>("GET", org.path("conversations", cid, "messages") + query)).body;
  return { org, cid, ids, page };
}

const idsOf = (page: Page<Message>) => page.items.map((message) => message._id);

describe("the history of a conversation", () => {
  test("has exactly the messages that were delivered, newest first", async () => {
    const { org, cid, ids, page } = await roomWith(2);
    using bob = await org.socket("bob");
    await org.sent("alice", {
      cid,
      body: "👋",
      x: { a: [1, { b: null }] },
      attachments: [{ name: "a", size: 1, content_type: "text/plain" }],
    });
    const heard = (await bob.next()).message;
    const { items, cursor } = await page("");
    for (const message of items) expectMessageShape(message);
    expect(items[0]).toEqual(heard as Message);
    expect(items.slice(1).map((message) => message._id)).toEqual([...ids].reverse());
    expect(cursor).toBeNull();
  });

  test("pages by cursor to its beginning", async () => {
    const { ids, page } = await roomWith(10);
    const first = await page("?limit=4");
    expect(idsOf(first)).toEqual([...ids].reverse().slice(0, 4));
    const second = await page(`?limit=4&cursor=${encodeURIComponent(first.cursor ?? "")}`);
    expect(idsOf(second)).toEqual([...ids].reverse().slice(4, 8));
    const third = await page(`?limit=4&cursor=${encodeURIComponent(second.cursor ?? "")}`);
    expect(idsOf(third)).toEqual([...ids].reverse().slice(8));
    expect(third.cursor).toBeNull();
  });

  test("gives older messages newest first before one, and newer ones oldest first after one", async () => {
    const { ids, page } = await roomWith(10);
    expect(idsOf(await page(`?before=${ids[6]}&limit=3`))).toEqual([ids[5], ids[4], ids[3]] as string[]);
    expect(idsOf(await page(`?after=${ids[2]}&limit=3`))).toEqual([ids[3], ids[4], ids[5]] as string[]);
    expect(idsOf(await page(`?before=${ids[0]}`))).toEqual([]);
    expect(idsOf(await page(`?after=${ids[9]}`))).toEqual([]);
    const after = await page(`?after=${ids[2]}&limit=3`);
    const next = await page(`?after=${ids[2]}&limit=3&cursor=${encodeURIComponent(after.cursor ?? "")}`);
    expect(idsOf(next)).toEqual([ids[6], ids[7], ids[8]] as string[]);
  });

  test("grows at its newest end during paging, without shifting a page", async () => {
    const { org, cid, ids, page } = await roomWith(6);
    const first = await page("?limit=3");
    await org.sent("bob", { cid, body: "newer" });
    expect(idsOf(await page(`?limit=3&cursor=${encodeURIComponent(first.cursor ?? "")}`))).toEqual([
      ids[2],
      ids[1],
      ids[0],
    ] as string[]);
    expect(idsOf(await page("?limit=1"))).not.toEqual([ids[5]] as string[]);
  });

  test("holds only the messages of its own conversation", async () => {
    const { org, cid, ids } = await roomWith(2);
    const other = await org.conversation(["alice"]);
    await org.sent("alice", { cid: other, body: "elsewhere" });
    expect((await org.history(cid)).map((message) => message._id)).toEqual([...ids].reverse());
  });

  test("refuses marks that are not messages of this conversation", async () => {
    const { org, cid, ids } = await roomWith(1);
    const other = await org.conversation(["alice"]);
    const foreign = await org.sent("alice", { cid: other, body: "x" });
    const path = org.path("conversations", cid, "messages");
    for (const mark of ["x", "0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", foreign.server_mid]) {
      for (const side of ["before", "after"]) {
        const answer = await herald().admin("GET", `${path}?${side}=${mark}`);
        expectProblem(answer, 404, "message_not_found");
      }
    }
    expectProblem(await herald().admin("GET", `${path}?since=${ids[0]}`), 422, "invalid_request");
  });
});
