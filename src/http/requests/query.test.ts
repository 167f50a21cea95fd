import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { z } from "zod";
import { listsOf, readQuery } from "./query.ts";

const lists = new Set(["uids"]);
const read = (query: string) => readQuery(`http://herald/online${query}`, lists);

describe("a query", () => {
  test("knows its lists from the schema", () => {
    const schema = z.strictObject({ a: z.string(), b: z.array(z.string()), c: z.array(z.string()).optional() });
    expect(listsOf(schema)).toEqual(new Set(["b", "c"]));
  });

  test("is split at commas before it is decoded, and a list may be repeated", () => {
    expect(read("?uids=a,b&uids=c")).toEqual({ uids: ["a", "b", "c"] });
    expect(read("?uids=a%2Cb,c%26d")).toEqual({ uids: ["a,b", "c&d"] });
    expect(read("?uids=a+b,c%2Bd")).toEqual({ uids: ["a b", "c+d"] });
    expect(read("?uids=,a,")).toEqual({ uids: ["", "a", ""] });
    expect(read("?uids")).toEqual({ uids: [""] });
    expect(read("?u%69ds=a=b")).toEqual({ uids: ["a=b"] });
  });

  test("keeps commas where no list is expected", () => {
    expect(read("?cursor=a,b&&limit=")).toEqual({ cursor: "a,b", limit: "" });
    expect(read("")).toEqual({});
    expect(read("?")).toEqual({});
  });

  test("restores any ids that were percent-encoded individually", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (ids) => {
        expect(read(`?uids=${ids.map(encodeURIComponent).join(",")}`)).toEqual({ uids: ids });
        expect(read(`?${ids.map((id) => `uids=${encodeURIComponent(id)}`).join("&")}`)).toEqual({ uids: ids });
      }),
    );
  });

  test("is refused if a parameter occurs twice or is not percent-encoded UTF-8", () => {
    for (const [query, pointer] of [
      ["?limit=1&limit=2", "/limit"],
      ["?uids=a,%FF", "/uids"],
      ["?limit=%", "/limit"],
      ["?%FF=1", ""],
      ["?__proto__=1&__proto__=2", "/__proto__"],
    ] as const)
      expect(() => read(query)).toThrow(
        expect.objectContaining({ code: "invalid_request", fields: [expect.objectContaining({ pointer })] }),
      );
  });
});
