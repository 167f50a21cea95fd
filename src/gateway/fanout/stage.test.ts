import { describe, expect, test } from "bun:test";
import { createPace } from "./pace.ts";
import { createStage } from "./stage.ts";

const many = { connections: 2_500, isSlow: false };

/** Plays the same event again and again, as often as each turn allows. */
function playOn(stage: ReturnType<typeof createStage>, org: string, played = many) {
  const turns: number[] = [];
  const pace = createPace(play, stage.of(org));
  function play(): void {
    let count = 0;
    for (; count < 10 && pace.allows(1); count++) pace.note(1, played);
    turns.push(count);
  }
  play();
  return turns;
}

/** How many turns there are in 60 ms. */
async function turnsOf(...organizations: number[][]): Promise<number[]> {
  await Bun.sleep(60);
  return organizations.map(({ length }) => length);
}

describe("a stage", () => {
  test("lets an organization alone play as it likes", async () => {
    const turns = playOn(createStage({ isShared: () => false }), "a");
    const [count = 0] = await turnsOf(turns);
    expect(count).toBeGreaterThan(10);
    expect(turns[0]).toBe(10);
  });

  test("ends turns sooner while it is shared, and lets a long one be paid off before the one after the next", async () => {
    const turns = playOn(createStage({ isShared: () => true }), "a");
    const [count = 0] = await turnsOf(turns);
    expect(new Set(turns)).toEqual(new Set([2]));
    expect(count).toBeWithin(2, 5); // each takes 50 ms, the first none
  });

  test("lets organizations with much to play take turns", async () => {
    const stage = createStage({ isShared: () => true });
    const [a, b] = [playOn(stage, "a"), playOn(stage, "b")];
    await turnsOf(a, b);
    expect(Math.abs(a.length - b.length)).toBeLessThan(2);
    expect(a.length + b.length).toBeLessThan(7);
  });

  test("does not hold up those with little to play", async () => {
    const stage = createStage({ isShared: () => true });
    const [busy, quiet] = [playOn(stage, "busy"), playOn(stage, "quiet", { connections: 40, isSlow: false })];
    const [of = 0, and = 0] = await turnsOf(busy, quiet);
    expect(of).toBeLessThan(5);
    expect(and).toBeGreaterThan(10);
  });
});
