import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { between } from "./key-range.ts";

const key = ["a", "b", "c"];
const keys = [1, 2, 3].flatMap((a) => [1, 2, 3].flatMap((b) => [1, 2, 3].map((c) => [a, b, c])));

test("a key range contains exactly the keys between two keys, in their order", () => {
  using database = new Database(":memory:");
  database.run("CREATE TABLE t (a INT, b INT, c INT)");
  for (const [a = 0, b = 0, c = 0] of keys) database.run("INSERT INTO t VALUES (?, ?, ?)", [a, b, c]);
  const anyKey = fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4));
  fc.assert(
    fc.property(fc.option(anyKey, { nil: undefined }), anyKey, (after, upTo) => {
      const { where, values } = between(key, after, upTo);
      const found = database.query(`SELECT a, b, c FROM t WHERE ${where} ORDER BY a, b, c`).values(...values);
      const rank = (one: readonly number[]) => one.reduce((sum, value) => sum * 10 + value, 0);
      expect(found as unknown[]).toEqual(
        keys.filter((one) => (after === undefined || rank(one) > rank(after)) && rank(one) <= rank(upTo)),
      );
    }),
  );
});

test("columns with equal values in both keys are compared separately", () => {
  expect(between(["org", `"offset"`], ["o", 5], ["o", 9])).toEqual({
    where: `org = ? AND ("offset") > (?) AND ("offset") <= (?)`,
    values: ["o", 5, 9],
  });
  expect(between(["org", `"offset"`], ["a", 5], ["b", 9]).where).toBe(
    `(org, "offset") > (?, ?) AND (org, "offset") <= (?, ?)`,
  );
});
