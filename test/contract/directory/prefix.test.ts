import { describe, expect, test } from "bun:test";
import type { Noun, Page } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald();

const named: [id: string, name: string | null][] = [
  ["anna", "Zoe"],
  ["ANNE", null],
  ["Anders", "Anders"],
  ["bob", "ANNABEL"],
  ["zed", "anna"],
  ["Éric", null],
  ["éva", null],
  ["a_n", null],
  ["a%n", null],
  ["ann/a?", null],
];

describe.each(["users", "conversations"])("GET …/%s?prefix=", (kind) => {
  async function setUp() {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    await herald().admin("PUT", other.path(kind, "anna-of-another"), {});
    for (const [id, name] of named)
      expect((await herald().admin("PUT", org.path(kind, id), name === null ? {} : { name })).status).toBe(201);
    const find = async (prefix: string, limit = 1_000) =>
      (await readList<Noun>(herald(), org.path(kind), limit, `prefix=${encodeURIComponent(prefix)}`)).map(
        ({ id }) => id,
      );
    return { org, find };
  }

  test("finds by the beginning of the id, then of the name, ignoring case; nothing else, and nothing twice", async () => {
    const { find } = await setUp();
    expect(await find("ann")).toEqual(["ANNE", "ann/a?", "anna", "bob", "zed"]);
    expect(await find("ANN")).toEqual(await find("ann"));
    expect(await find("And")).toEqual(["Anders"]);
    expect(await find("é")).toEqual(["Éric", "éva"]);
    expect(await find("a_")).toEqual(["a_n"]);
    expect(await find("a%")).toEqual(["a%n"]);
    expect(await find("nna")).toEqual([]);
    expect(await find("z")).toEqual(["zed", "anna"]);
  });

  test("finds the same in pages of any size", async () => {
    const { find } = await setUp();
    for (const prefix of ["ann", "a", "é", "z", "none"])
      for (const limit of [1, 2, 3]) expect([prefix, await find(prefix, limit)]).toEqual([prefix, await find(prefix)]);
  });

  test("skips however many others there are between the forms of letters", async () => {
    const { org, find } = await setUp();
    const between = Array.from({ length: 300 }, (_, index) => `Ax${index}`);
    for (const id of between) await herald().admin("PUT", org.path(kind, id), { name: `Ax ${id}` });
    expect(await find("ANN", 2)).toEqual(["ANNE", "ann/a?", "anna", "bob", "zed"]);
    expect(await find("ax")).toHaveLength(between.length);
  });

  test("needs the scope of the list, and refuses what is not text, and cursors of other lists", async () => {
    const { org } = await setUp();
    const path = org.path(kind);
    const { key } = await createKey(herald(), { scopes: ["observe"] });
    expectProblem(await callWith(herald(), key, "GET", `${path}?prefix=a`), 403, "insufficient_scope");
    expectProblem(await herald().admin("GET", `${path}?prefix=`), 422, "invalid_request", "/prefix");
    expectProblem(await herald().admin("GET", `${path}?prefix=${"a".repeat(257)}`), 422, "invalid_request", "/prefix");
    const { body } = await herald().admin<Page<Noun>>("GET", `${path}?limit=1`);
    expectProblem(
      await herald().admin("GET", `${path}?prefix=a&cursor=${body.cursor}`),
      422,
      "invalid_request",
      "/cursor",
    );
    expectProblem(
      await herald().admin("GET", `/admin/organizations/nowhere-${crypto.randomUUID()}/${kind}?prefix=a`),
      404,
      "organization_not_found",
    );
  });
});
