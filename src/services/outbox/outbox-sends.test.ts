import { afterEach, beforeEach, expect, test } from "bun:test";
import { openKeys } from "../../../test/harness/servers/keyring.ts";
import { unavailable } from "../../contract/errors/errors.ts";
import { defaultPayloadLimits } from "../../contract/limits.ts";
import type { OutboxRow } from "../../store/outbox/ports.ts";
import type { SendLog } from "../../store/ports.ts";
import { createOutboxSends, type OutboxOutcome } from "./outbox-sends.ts";

let context: Awaited<ReturnType<typeof openKeys>>;
let rows: OutboxRow[];
let refused: { id: string; code: string }[];
let errors: unknown[];
let commits: number[];

beforeEach(async () => {
  context = await openKeys();
  await context.store.conversations.put("o1", "c1", { participants: ["u1"] }, context.time.now);
  [rows, refused, errors, commits] = [[], [], [], []];
});
afterEach(() => context[Symbol.asyncDispose]());

/** Sends that fail as told for bodies that begin with a word, and are stored otherwise. */
function createSends(failures: Record<string, () => Error>) {
  const append: SendLog["append"] = async (send) => {
    const { message } = JSON.parse(send.payload);
    const failure = failures[String(message.body).split(" ")[0] ?? ""];
    if (failure !== undefined) throw failure();
    return await context.store.sends.append(send);
  };
  const sends: Pick<SendLog, "appendTogether"> = {
    appendTogether(all) {
      commits.push(all.length);
      return all.map(append);
    },
  };
  const sendRows = createOutboxSends({
    sends,
    use: { know: () => undefined, admitSend: () => () => undefined },
    limits: defaultPayloadLimits,
    clock: { now: () => context.time.now },
    elapsed: { now: () => context.time.elapsed },
    onError: (error) => errors.push(error),
    onRefused: () => undefined,
  });
  /** Takes what is waiting once, and removes what has ended. */
  return async (): Promise<OutboxOutcome> => {
    const outcome = await sendRows("o1", rows);
    rows = rows.filter((row) => !outcome.ended.some((ended) => ended.row === row));
    for (const { row, problem } of outcome.ended)
      if (problem !== undefined) refused.push({ id: row.id, code: problem.code });
    return outcome;
  };
}

function commit(...bodies: string[]): void {
  for (const body of bodies) {
    const position = String(rows.length);
    const request = { organizationId: "o1", senderId: "u1", message: { cid: "c1", body } };
    rows.push({ position, id: body, request: JSON.stringify(request) });
  }
}

/** Takes every second until nothing is waiting, or for so many seconds; returns those it took. */
async function takeFor(take: () => Promise<OutboxOutcome>, seconds: number): Promise<number> {
  for (let second = 0; second < seconds; second++) {
    await take();
    if (rows.length === 0) return second;
    context.time.elapsed += 1_000;
  }
  return seconds;
}

async function sent(): Promise<unknown[]> {
  const page = await context.store.history.messages("o1", "c1", {
    direction: "forward",
    limit: 1_000,
    maxBytes: 2 ** 20,
  });
  return page.map(({ payload }) => JSON.parse(payload).message.body);
}

const poison = { poison: () => new Error("nobody foresaw this") };

test("a row at which the server fails for an unforeseen reason is refused after a minute, if those behind it can be sent", async () => {
  const take = createSends(poison);
  commit("poison", ...Array.from({ length: 100 }, (_, number) => `good ${number}`));
  expect(await takeFor(take, 50)).toBe(50);
  expect(refused).toEqual([]);
  expect(await takeFor(take, 50)).toBeLessThan(20);
  expect(refused).toEqual([{ id: "poison", code: "internal" }]);
  expect(await sent()).toEqual(Array.from({ length: 100 }, (_, number) => `good ${number}`));
  expect(errors.length).toBeGreaterThanOrEqual(10);
});

test("rows share commits, so that none is stored if one before it is not", async () => {
  const take = createSends({});
  commit(...Array.from({ length: 100 }, (_, number) => `row ${number}`));
  await take();
  expect(commits).toEqual([64, 36]);
});

test("a row that failed once is tried alone, so that those behind it stay behind it", async () => {
  const failures: Record<string, () => Error> = { ...poison, good: poison.poison };
  const take = createSends(failures);
  commit("poison", "good 1", "good 2");
  await take(); // all of them fail
  delete failures.good;
  expect((await take()).sent).toBe(0);
  delete failures.poison;
  await take();
  expect(await sent()).toEqual(["poison", "good 1", "good 2"]);
});

test("rows that all fail wait, however long", async () => {
  const failures: Record<string, () => Error> = { ...poison, good: poison.poison };
  const take = createSends(failures);
  commit("poison", "good 1");
  expect(await takeFor(take, 600)).toBe(600);
  expect([refused, rows.length]).toEqual([[], 2]);
  delete failures.good; // now only one is at fault
  await takeFor(take, 2);
  expect(refused).toEqual([{ id: "poison", code: "internal" }]);
});

test("a row with nobody behind it waits until there is one", async () => {
  const take = createSends(poison);
  commit("poison");
  expect(await takeFor(take, 600)).toBe(600);
  commit(`good ${"x".repeat(60_000)}`, "good 2");
  await takeFor(take, 2);
  expect(refused).toEqual([{ id: "poison", code: "internal" }]);
  expect(rows).toEqual([]);
});

test("two such rows are refused one after the other", async () => {
  const take = createSends(poison);
  commit("poison 1", "poison 2");
  for (let minute = 0; minute < 3; minute++) {
    commit(`good ${minute}`);
    await takeFor(take, 70);
  }
  expect(refused.map(({ id }) => id)).toEqual(["poison 1", "poison 2"]);
  expect(await sent()).toEqual(["good 0", "good 1", "good 2"]);
});

test("a row waits as long as the store is away, and keeps those after its group waiting", async () => {
  const failures: Record<string, () => Error> = { good: () => unavailable() };
  const take = createSends(failures);
  commit(...Array.from({ length: 70 }, (_, number) => `good ${number}`));
  expect(await takeFor(take, 600)).toBe(600);
  expect(rows.length).toBe(70);
  delete failures.good;
  await take();
  expect(await sent()).toEqual(Array.from({ length: 70 }, (_, number) => `good ${number}`));
  expect(refused).toEqual([]);
});
