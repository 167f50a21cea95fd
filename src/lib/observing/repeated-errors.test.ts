import { expect, test } from "bun:test";
import { type Logger, pino } from "pino";
import { createRepeatedErrors } from "./repeated-errors.ts";

type Line = { level: number; msg: string; times?: number; err?: { type: string; message: string; stack?: string } };

/** A logger whose lines are kept, and a promise of each that is not written yet. */
function open(everyMs?: number) {
  const lines: Line[] = [];
  let wake = Promise.withResolvers<void>();
  const repeated = createRepeatedErrors(everyMs);
  const log: Logger = pino(
    { base: null, hooks: { logMethod: repeated.logMethod } },
    {
      write(line) {
        lines.push(JSON.parse(line));
        wake.resolve();
        wake = Promise.withResolvers();
      },
    },
  );
  async function line(number: number): Promise<Line> {
    for (;;) {
      const found = lines[number];
      if (found !== undefined) return found;
      await wake.promise;
    }
  }
  return { log, lines, line, tell: repeated.tell };
}

const failing = (message: string) => new TypeError(message);

test("of equal errors the first is logged in full, and the others are counted", () => {
  const { log, lines, tell } = open();
  for (let count = 0; count < 1_000; count++)
    log.error({ err: failing(`no row ${count}`), request_id: count }, "failed");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: 50, msg: "failed", request_id: 0, err: { message: "no row 0" } });
  expect(lines[0]?.err?.stack).toContain("repeated-errors.test.ts");
  tell();
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({ level: 50, msg: "failed (again)", times: 999, error: "TypeError: no row 0" });
  expect(lines[1]).not.toHaveProperty("err");
});

test("the count comes by itself, and an error is logged in full again once it has not occurred for a while", async () => {
  const { log, lines, line, tell } = open(5);
  for (let count = 0; count < 3; count++) log.error({ err: failing("x") }, "failed");
  expect(await line(1)).toMatchObject({ times: 2 });
  tell(); // nothing since: it is forgotten
  expect(lines).toHaveLength(2);
  log.error({ err: failing("x") }, "failed");
  expect((await line(2)).err?.stack).toBeDefined();
});

test("errors that differ are all logged, and so are lines without an error", () => {
  const { log, lines, tell } = open();
  log.error({ err: failing("a") }, "failed");
  log.error({ err: failing("b") }, "failed");
  log.error({ err: failing("a") }, "failed elsewhere");
  log.child({ worker: 2 }).warn(failing("a"));
  for (let count = 0; count < 3; count++) log.info({ route: "/" }, "request");
  for (let count = 0; count < 3; count++) log.error("no database");
  tell();
  expect(lines.map(({ msg }) => msg)).toEqual([
    ...["failed", "failed", "failed elsewhere", "a"],
    ...["request", "request", "request", "no database", "no database", "no database"],
  ]);
});

test("errors of very many kinds are bounded, too", () => {
  const { log, lines, tell } = open();
  const name = (index: number) => `${String.fromCharCode(97 + (index % 26), 97 + Math.floor(index / 26))} failed`;
  for (let index = 0; index < 500; index++) log.error({ err: failing(name(index)) }, "failed");
  tell();
  expect(lines).toHaveLength(101);
  expect(lines[100]).toMatchObject({ msg: "more errors were left out", times: 400 });
});
