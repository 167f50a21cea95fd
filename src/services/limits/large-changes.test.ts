import { expect, test } from "bun:test";
import { createLargeChanges } from "./large-changes.ts";

const clock = { now: () => 0 };

/** Changes that end on demand. */
function openChanges() {
  const changes = createLargeChanges({ clock });
  const underWay: (() => void)[] = [];
  return {
    underWay,
    begin: (org: string, names: number) =>
      changes.run(org, names, () => new Promise<string>((resolve) => underWay.push(() => resolve("changed")))),
  };
}

test("two large changes of an organization run at once, and the third once one has ended", async () => {
  const { begin, underWay } = openChanges();
  const begun = Array.from({ length: 3 }, () => begin("bakery", 100_000));
  expect(underWay).toHaveLength(2);
  underWay[0]?.();
  expect(await begun[0]).toBe("changed");
  expect(underWay).toHaveLength(3);
  for (const end of underWay) end();
  expect(await Promise.all(begun)).toEqual(["changed", "changed", "changed"]);
});

test("another organization's large change, and a small one, do not wait for them", () => {
  const { begin, underWay } = openChanges();
  for (let count = 0; count < 5; count++) void begin("bakery", 100_000);
  void begin("brewery", 100_000);
  void begin("bakery", 250);
  expect(underWay).toHaveLength(4);
});

test("of 40 changes with 100,000 names ten are accepted, and the rest refused as unavailable", async () => {
  const { begin, underWay } = openChanges();
  const begun = Array.from({ length: 40 }, () => begin("bakery", 100_000));
  const refused = begun.slice(10);
  for (const outcome of await Promise.allSettled(refused))
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
  for (let ended = 0; ended < 10; ended++) {
    underWay[ended]?.();
    await begun[ended];
  }
  expect(underWay).toHaveLength(10);
});
