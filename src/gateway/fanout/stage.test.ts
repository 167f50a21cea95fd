import { describe, expect, test } from "bun:test";
import { noCrowds } from "../log/testing/sequencer-setup.ts";
import { createPace } from "./pace.ts";
import { createStage } from "./stage.ts";

const many = { connections: 2_500, isSlow: false };

/** Plays the same event again and again, as often as each turn allows. Returns how often that was in each turn so far. */
function playOn(stage: ReturnType<typeof createStage>, org: string, played = many): number[] {
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

/** Waits for so many turns, and returns how many there may be by then if each is paid off with 50 ms before the next. */
async function mayHave(turns: number[], least: number): Promise<number> {
  const startedAt = performance.now();
  while (turns.length < least) await Bun.sleep(1);
  return 3 + (performance.now() - startedAt) / 50; // the first two are not, and the current one
}

describe("a stage", () => {
  test("lets an organization alone play as it likes", async () => {
    const turns = playOn(createStage({ isShared: () => false, crowds: noCrowds }), "a");
    await mayHave(turns, 20);
    expect(new Set(turns)).toEqual(new Set([10]));
  });

  test("ends turns sooner while it is shared, and lets long ones be paid off", async () => {
    const turns = playOn(createStage({ isShared: () => true, crowds: noCrowds }), "a");
    const most = await mayHave(turns, 4);
    expect(new Set(turns)).toEqual(new Set([2]));
    expect(turns.length).toBeLessThanOrEqual(most);
  });

  test("lets nothing be played while a turn is paid off and parts of a crowd wait for it", async () => {
    const parts = [1_000, 1_000];
    const mayPlay: boolean[] = [];
    const crowds = {
      settle: () => expect.unreachable(),
      next: () => (parts.length === 0 ? undefined : { deliveries: 1_000, write }),
    };
    function write(): number {
      mayPlay.push(pace.allows(1));
      return parts.shift() ?? 0;
    }
    const begun = Promise.withResolvers<void>();
    const pace = createPace(begun.resolve, createStage({ isShared: () => true, crowds }).of("a"));
    pace.note(1, { connections: 2_000, isSlow: false });
    expect(pace.allows(1)).toBe(true);
    await begun.promise;
    expect([mayPlay, pace.allows(1)]).toEqual([[false, false], true]);
  });

  test("lets organizations with much to play take turns", async () => {
    const stage = createStage({ isShared: () => true, crowds: noCrowds });
    const [a, b] = [playOn(stage, "a"), playOn(stage, "b")];
    const most = await mayHave(a, 4);
    expect(Math.abs(a.length - b.length)).toBeLessThan(2);
    expect(a.length + b.length).toBeLessThanOrEqual(most + 1); // each begins with one
  });

  test("does not hold up those with little to play", async () => {
    const stage = createStage({ isShared: () => true, crowds: noCrowds });
    const [busy, quiet] = [playOn(stage, "busy"), playOn(stage, "quiet", { connections: 40, isSlow: false })];
    await mayHave(quiet, 20);
    expect(busy.length).toBeLessThan(8);
  });
});
