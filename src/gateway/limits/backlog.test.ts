import { describe, expect, test } from "bun:test";
import { createOwner } from "../../lib/owner.ts";
import { createBacklog } from "./backlog.ts";

const unlimited = Number.POSITIVE_INFINITY;
const maxStallMs = 35_000;
const fail = (error: unknown) => expect.unreachable(String(error));

type Limits = { maxBytes?: number; maxOrganizationBytes?: number; maxLineBytes?: number };

describe("a backlog", () => {
  function setUp(waiting: number[], limits: Limits = {}, orgOf: (index: number) => string = () => "o") {
    const { maxBytes = unlimited, maxOrganizationBytes = unlimited, maxLineBytes = 1_000 } = limits;
    const time = { ms: 0 };
    const backlog = createBacklog({
      maxBytes,
      maxOrganizationBytes,
      maxLineBytes,
      maxStallMs,
      clock: { now: () => time.ms },
    });
    const check = (ms = 100) => {
      time.ms += ms;
      backlog.check();
    };
    const looks: number[] = [];
    const cut: string[] = [];
    const lines = waiting.map((_, index) => {
      const line = {
        owner: createOwner(fail),
        org: orgOf(index),
        takings: 0,
        waitingBytes() {
          looks.push(index);
          return waiting[index] ?? 0;
        },
        cut() {
          cut.push(`${orgOf(index)}:${waiting[index]}`);
          line.owner.close();
          backlog.forget(line);
        },
      };
      return line;
    });
    const watchAll = () => {
      for (const line of lines) backlog.watch(line);
    };
    return { backlog, check, lines, looks, cut, waiting, time, watchAll };
  }

  function cutFrom(waiting: number[], limits: Limits, orgOf?: (index: number) => string): string[] {
    const { check, cut, watchAll } = setUp(waiting, limits, orgOf);
    watchAll();
    check();
    return cut;
  }

  test("cuts nobody up to the limits", () => {
    expect(cutFrom([10, 0, 30], { maxBytes: 40, maxOrganizationBytes: 40, maxLineBytes: 30 })).toEqual([]);
    expect(cutFrom([10, 30], { maxLineBytes: unlimited })).toEqual([]);
  });

  test("cuts the lines furthest behind, and no more than necessary", () => {
    for (const limit of ["maxBytes", "maxOrganizationBytes"]) {
      expect(cutFrom([10, 50, 0, 30, 40], { [limit]: 80 })).toEqual(["o:50"]);
      expect(cutFrom([10, 50, 0, 30, 40], { [limit]: 79 })).toEqual(["o:50", "o:40"]);
    }
    expect(cutFrom([10, 50, 0, 30, 40], { maxLineBytes: 39 })).toEqual(["o:50", "o:40"]);
  });

  test("cuts only an organization's own lines for that organization's limit", () => {
    const orgOf = (index: number) => (index < 3 ? "many" : "few");
    expect(cutFrom([30, 20, 10, 50], { maxOrganizationBytes: 50 }, orgOf)).toEqual(["many:30"]);
  });

  test("for the node's limit, cuts lines of the organization that holds most, however far behind another's line is", () => {
    const orgOf = (index: number) => (index < 4 ? "many" : "few");
    expect(cutFrom([30, 25, 20, 10, 60], { maxBytes: 90 }, orgOf)).toEqual(["many:30", "few:60"]);
    expect(cutFrom([30, 25, 20, 10, 60], { maxBytes: 120 }, orgOf)).toEqual(["many:30"]);
  });

  test("counts held bytes besides waiting ones until they are released, and each line once", () => {
    const { backlog, check, lines, cut, watchAll } = setUp([10, 20], { maxOrganizationBytes: 100 });
    const [first, second] = lines;
    if (first === undefined || second === undefined) throw new Error("two lines");
    const letGo = backlog.hold(first, 60);
    watchAll();
    backlog.watch({ ...second }); // the same connection as a different object
    check();
    expect(backlog.bytes).toBe(90);
    letGo();
    letGo();
    check();
    expect(backlog.bytes).toBe(30);
    backlog.hold(first, 81);
    check();
    expect(cut).toEqual(["o:10"]);
    expect(backlog.bytes).toBe(20);
  });

  test("checks at once if much is held between two checks", () => {
    const mebibyte = 1024 * 1024;
    const limits = { maxOrganizationBytes: 2 * mebibyte, maxLineBytes: unlimited };
    const { backlog, lines, cut } = setUp([0, 0, 0, 0, 0], limits);
    for (const line of lines) backlog.hold(line, mebibyte);
    expect(cut).toEqual(["o:0", "o:0", "o:0"]);
  });

  test("cuts a line that takes nothing for too long, and none that takes anything", () => {
    const { check, lines, cut, watchAll } = setUp([10, 20, 0]);
    watchAll();
    for (let round = 0; round < 4; round++) {
      check(10_000);
      const [reading] = lines;
      if (reading !== undefined) reading.takings++;
      watchAll();
    }
    expect(cut).toEqual(["o:20"]);
  });

  test("looks at a line only while it has bytes waiting", () => {
    const { backlog, check, lines, looks, waiting } = setUp([10, 20, 30], { maxBytes: 100 });
    const [first, second, idle] = lines;
    if (first === undefined || second === undefined || idle === undefined) throw new Error("three lines");
    backlog.watch(first);
    backlog.suspect("topic", 1, () => [second, first]);
    check();
    expect(looks.toSorted()).toEqual([0, 1]);
    expect(backlog.bytes).toBe(30);
    waiting[1] = 0;
    check();
    check();
    expect(looks.toSorted()).toEqual([0, 0, 0, 1, 1]);
    backlog.forget(first);
    expect(backlog.bytes).toBe(0);
    check();
    expect(looks.length).toBe(5);
  });

  test("looks at the followers of a topic once a second at most, and at slow ones every time", () => {
    const { backlog, check, lines, looks } = setUp([10, 0, 0], { maxBytes: 100 });
    for (let round = 0; round < 20; round++) {
      backlog.suspect("topic", 1, () => lines);
      check();
    }
    expect(looks.filter((index) => index === 0).length).toBe(20);
    expect(looks.filter((index) => index > 0).length).toBe(2 * 2);
  });

  test("is checked ten times a second at most", () => {
    const { backlog, watchAll, looks, time } = setUp([10], { maxBytes: 100 });
    watchAll();
    for (; time.ms < 1_000; time.ms += 10) backlog.check();
    expect(looks.length).toBe(10);
  });

  test("looks again at once if a line may have come a quarter of the way to its limit", () => {
    const { backlog, lines, looks } = setUp([0], { maxBytes: 100 });
    for (let published = 0; published < 2_000; published += 50) {
      backlog.suspect("topic", 50, () => lines);
      backlog.check();
    }
    expect(looks.length).toBe(1 + 7); // the first look, and one per 250 bytes after it
  });
});
