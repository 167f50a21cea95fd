import { expect, test } from "bun:test";
import fc from "fast-check";
import { path, query } from "./paths.ts";

test("identifiers of any form come back from the URL unchanged", () => {
  const identifier = fc.string({ unit: "binary", minLength: 1 }).filter((text) => text !== "." && text !== "..");
  fc.assert(
    fc.property(identifier, identifier, (org, uid) => {
      const { pathname } = new URL(path`/admin/organizations/${org}/users/${uid}`, "http://herald");
      expect(pathname.split("/").slice(3).map(decodeURIComponent)).toEqual([org, "users", uid]);
    }),
  );
});

test.each(["", ".", ".."])("the identifier %p is refused, because a URL would lose it", (identifier) => {
  expect(() => path`/admin/organizations/${identifier}`).toThrow(TypeError);
});

test("a query leaves out what is not given", () => {
  expect(query({ limit: 5, cursor: undefined, uids: "a&b" })).toBe("?limit=5&uids=a%26b");
  expect(query({})).toBe("");
});

test("the items of a list stand between commas, and a comma within one is encoded", () => {
  expect(query({ uids: ["a,b", "c d"], count: true })).toBe("?uids=a%2Cb,c%20d&count=true");
});
