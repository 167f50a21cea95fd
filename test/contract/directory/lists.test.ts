import { describe, expect, test } from "bun:test";
import type { Noun, Page } from "../../harness/clients/wire.ts";
import { createRandom } from "../../harness/random.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald({ env: { HERALD_LIMIT_REQUESTS_PER_SECOND: "0", HERALD_LIMIT_REQUESTS_BURST: "0" } });

/** Every paged list of section 4, in an organization with one conversation. */
function lists(org: Organization): string[] {
  return [
    "/admin/organizations",
    org.path("users"),
    org.path("conversations"),
    org.path("online"),
    org.path("conversations", "room", "participants"),
    org.path("conversations", "room", "messages"),
  ];
}

describe("lists", () => {
  test("answer {items,cursor}, with a cursor of null at their end", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice", "bob"], "room");
    await org.sent("alice", { cid: "room", body: "x" });
    for (const list of lists(org)) {
      const answer = await herald().admin<Page<unknown>>("GET", `${list}?limit=1000`);
      expect(answer.status).toBe(200);
      expect(Object.keys(answer.body).sort()).toEqual(["cursor", "items"]);
      expect(answer.body.items).toBeArray();
      expect(answer.body.cursor).toBeNull();
    }
    const empty = await createOrganization(herald());
    expect((await herald().admin<Page<unknown>>("GET", empty.path("users"))).body).toEqual({ items: [], cursor: null });
  });

  test("hold 100 items by default, and as many as limit says", async () => {
    const org = await createOrganization(herald());
    await org.conversation(
      Array.from({ length: 130 }, (_, index) => `user ${index}`),
      "room",
    );
    const page = async (query: string) => (await herald().admin<Page<Noun>>("GET", org.path("users") + query)).body;
    const first = await page("");
    expect(first.items).toHaveLength(100);
    expect(first.cursor).toBeString();
    const rest = await page(`?cursor=${encodeURIComponent(first.cursor ?? "")}`);
    expect(rest.items).toHaveLength(30);
    expect(rest.cursor).toBeNull();
    for (const limit of [1, 2, 129]) {
      const some = await page(`?limit=${limit}`);
      expect(some.items).toHaveLength(limit);
      expect(some.cursor).toBeString();
    }
    for (const limit of [131, 1000]) expect((await page(`?limit=${limit}`)).items).toHaveLength(130);
    for (const limit of [13, 65]) {
      const all = await readList<Noun>(herald(), org.path("users"), limit);
      expect(new Set(all.map((user) => user.id)).size).toBe(130);
      expect(all).toHaveLength(130);
    }
  });

  test("refuse limits outside 1 to 1,000, made-up cursors, and unknown parameters", async () => {
    const org = await createOrganization(herald());
    await org.conversation(["alice"], "room");
    for (const list of lists(org)) {
      for (const limit of ["0", "1001", "abc", "-1", "1.5", "1e2", "", "%201", "0x10", "99999999999999999999"]) {
        const answer = await herald().admin("GET", `${list}?limit=${limit}`);
        expect({ list, limit, status: answer.status }).toEqual({ list, limit, status: 422 });
        expectProblem(answer, 422, "invalid_request");
      }
      for (const cursor of [
        "x",
        "%00",
        "bnVsbA",
        "e30",
        "W10",
        "eyJhIjoxfQ",
        "null",
        "-1",
        "%F0%9F%91%8B",
        "x".repeat(5_000),
        "'%20OR%201=1--",
      ]) {
        const answer = await herald().admin("GET", `${list}?cursor=${cursor}`);
        expect({ list, cursor, status: answer.status }).toEqual({ list, cursor, status: 422 });
        expectProblem(answer, 422, "invalid_request");
      }
      for (const query of ["offset=1", "limt=5", "limit=5&page=2", "Limit=5"])
        expectProblem(await herald().admin("GET", `${list}?${query}`), 422, "invalid_request");
    }
  });

  test("refuse a repeated parameter", async () => {
    const org = await createOrganization(herald());
    expectProblem(await herald().admin("GET", `${org.path("users")}?limit=1&limit=2`), 422, "invalid_request");
  });

  test("neither miss nor repeat what exists throughout, while rows come and go between the pages", async () => {
    const random = createRandom();
    const org = await createOrganization(herald());
    const put = (uid: string) => herald().admin("PUT", org.path("users", uid), {});
    const name = () => `user ${random.integer(0, 1e9).toString(36)}`;
    const lasting = new Set(Array.from({ length: 60 }, name));
    const fleeting = Array.from({ length: 60 }, () => `${name()} f`);
    await Promise.all([...lasting, ...fleeting].map(put));
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = cursor === "" ? "?limit=9" : `?limit=9&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await herald().admin<Page<Noun>>("GET", org.path("users") + query);
      seen.push(...body.items.map((user) => user.id));
      // Even the item at the cursor itself may be deleted.
      const last = body.items.at(-1)?.id;
      if (last !== undefined && !lasting.has(last)) await herald().admin("DELETE", org.path("users", last));
      await Promise.all(fleeting.splice(0, 3).map((uid) => herald().admin("DELETE", org.path("users", uid))));
      await Promise.all(Array.from({ length: 2 }, () => put(`${name()} new`)));
      cursor = body.cursor;
      expect(seen.length).toBeLessThan(1_000);
    }
    expect({ seed: random.seed, twice: seen.filter((id, index) => seen.indexOf(id) !== index) }).toEqual({
      seed: random.seed,
      twice: [],
    });
    expect({ seed: random.seed, missed: [...lasting].filter((id) => !seen.includes(id)) }).toEqual({
      seed: random.seed,
      missed: [],
    });
  });

  test("give complete pages of identifiers that sort oddly, each once", async () => {
    const org = await createOrganization(herald());
    const ids = [
      "a",
      "A",
      "ä",
      "a\u0308",
      "aa",
      "Z",
      "z",
      "10",
      "9",
      " ",
      "💬",
      "\uffff",
      "\u{10000}",
      "ａ",
      "%",
      "_",
      "a'b",
      'a"b',
    ];
    for (const cid of ids) await org.conversation([], cid);
    for (const limit of [1, 2, 5]) {
      const listed = await readList<Noun>(herald(), org.path("conversations"), limit);
      expect(listed.map((item) => item.id).sort()).toEqual([...ids].sort());
    }
  });
});
