import { expect, test } from "bun:test";
import { groupHits, type Hit, type Kind, type Rank, rankOf, splitAt } from "./match.ts";
import { readTyped } from "./typed.ts";

const hit = (kind: Kind, title: string, rank: Rank): Hit => ({ kind, id: title, title, rank, href: "#/" });

test("the id itself counts more than a name, and a whole name more than a beginning", () => {
  expect(rankOf("bob", { id: "bob" })).toBe(0);
  expect(rankOf("bob", { id: "u-7", names: ["Bob"] })).toBe(1);
  expect(rankOf("BO", { id: "bob" })).toBe(2);
  expect(rankOf("bo", { id: "u-7", names: ["Bob"] })).toBe(3);
  expect(rankOf("key", { id: "new", names: ["New API key"], isFoundByWord: true })).toBe(4);
  expect(rankOf("ey", { id: "new", names: ["New API key"], isFoundByWord: true })).toBeUndefined();
  expect(rankOf("key", { id: "new", names: ["New API key", null] })).toBeUndefined();
  expect(rankOf("", { id: "" })).toBeUndefined();
});

test("the group with the best result comes first, and groups that are as good in the order of kinds", () => {
  const groups = groupHits([
    hit("page", "Keys", 3),
    hit("conversation", "kitchen", 2),
    hit("user", "kim", 2),
    hit("user", "k", 0),
    hit("user", "karl", 2),
    hit("key", "k", 0),
  ]);
  expect(groups.map(({ kind, hits }) => [kind, hits.map(({ title }) => title)])).toEqual([
    ["user", ["k", "karl", "kim"]],
    ["key", ["k"]],
    ["conversation", ["kitchen"]],
    ["page", ["Keys"]],
  ]);
});

test("a group has few results, the best of them", () => {
  const many = Array.from({ length: 20 }, (_, place) => hit("user", `u${30 - place}`, 2));
  const titles = groupHits(many)[0]?.hits.map(({ title }) => title);
  expect([titles?.length, titles?.at(0), titles?.at(-1)]).toEqual([12, "u11", "u22"]);
});

test("what was typed is marked where a word begins", () => {
  expect(splitAt("New API key", "KEY")).toEqual(["New API ", "key", ""]);
  expect(splitAt("monkey", "key")).toEqual(["monkey", "", ""]);
  expect(splitAt("İstanbul", "stan")).toEqual(["İstanbul", "", ""]);
  expect(splitAt("welcome", "")).toEqual(["welcome", "", ""]);
});

test("of an API key only the id is searched for, and other secrets are not searched for at all", () => {
  const id = "019aa8c4-7a3e-7b1f-8c2d-0123456789ab";
  expect(readTyped(` hk_${id}_SecretSecret `, true)).toEqual({ text: id, isSecret: true, isWhole: true });
  expect(readTyped("hk_019AA8c4-7", true)).toEqual({ text: "019aa8c4-7", isSecret: true, isWhole: false });
  for (const secret of ["whsec_abc", "hk_019a_Secret", "eyJhbGciOi.eyJzdWIi"])
    expect(readTyped(secret, true)).toEqual({ text: "", isSecret: true, isWhole: false });
});

test("what is pasted, or has the form of the server's ids, may be a whole id", () => {
  expect(readTyped("order-4711", false).isWhole).toBe(false);
  expect(readTyped("order-4711", true).isWhole).toBe(true);
  expect(readTyped("019aa8c4-7a3e-7b1f-8c2d-0123456789ab", false).isWhole).toBe(true);
  expect([...readTyped("👋".repeat(200), true).text]).toHaveLength(128);
});
