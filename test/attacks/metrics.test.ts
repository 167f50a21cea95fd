import { describe, expect, test } from "bun:test";
import { useHerald } from "../harness/servers/herald.ts";

const herald = useHerald({ oneNode: "a copy is a node's own" });
const scrapes = 200;

describe("continuous scrapes (row 1)", () => {
  test("are answered from a copy: the content changes once a second at most", async () => {
    const begunAt = performance.now();
    const told = new Set<string>();
    for (let count = 0; count < scrapes; count++) told.add((await herald().http("GET", "/metrics")).text);
    const seconds = Math.ceil((performance.now() - begunAt) / 1_000);
    expect(told.size).toBeLessThanOrEqual(seconds + 1);
  });
});
