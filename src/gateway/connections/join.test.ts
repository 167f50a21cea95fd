import { expect, test } from "bun:test";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { appendPayload } from "../../contract/messages/append.ts";
import { createThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { createOwner } from "../../lib/owner.ts";
import { createLimiter } from "../../lib/queues/limiter.ts";
import type { Recovery } from "../../services/messages/recovery.ts";
import type { DeliveryLedger } from "../delivery/delivery-ledger.ts";
import { createAudiences } from "../fanout/audiences.ts";
import { createEventFacts } from "../fanout/event-facts.ts";
import { createBacklog } from "../limits/backlog.ts";
import { createBudget } from "../log/budget.ts";
import { createRing } from "../log/ring.ts";
import type { Sequencer } from "../log/sequencer.ts";
import { event, placeOf } from "../log/testing/sequencer-setup.ts";
import type { Connection } from "./connection.ts";
import { createJoiner } from "./join.ts";
import { createPageTurns } from "./page-turns.ts";
import { createRoster } from "./roster.ts";

const limiter = createLimiter({
  places: 1,
  maxWaiting: 1,
  maxWaitMs: 1_000,
  whenBusy: () => new Error("busy"),
  clock: { now: () => performance.now() },
});
const backlog = createBacklog({
  maxBytes: Number.POSITIVE_INFINITY,
  maxOrganizationBytes: Number.POSITIVE_INFINITY,
  maxLineBytes: Number.POSITIVE_INFINITY,
  maxStallMs: Number.POSITIVE_INFINITY,
  clock: { now: () => performance.now() },
});

const unused = (): never => expect.unreachable();

type Setting = {
  sequencer: Sequencer;
  log: { readAfter(org: string, offset: number): Promise<LogEvent[]> };
  recovery?: Recovery;
};

/** Creates a joiner, and a connection that notes what it hears and what the ledger is told that it was given. */
function createOne({ sequencer, log, recovery = { resumeAfter: unused, readGrown: unused, read: unused } }: Setting) {
  const [heard, given]: string[][] = [[], []];
  const ledger: Pick<DeliveryLedger, "given"> = { given: (_, events) => given?.push(...events.map(({ id }) => id)) };
  const [roster, joining, audiences] = [createRoster(), createRoster(), createAudiences(() => undefined)];
  const joiner = createJoiner({
    sequencers: {
      acquire: async () => sequencer,
      of: unused,
      release: () => undefined,
      checkHeads: unused,
      playToHeads: unused,
      lag: { events: 0, checkedAt: undefined },
      held: 0,
      stop: unused,
    },
    recovery,
    log,
    roster,
    joining,
    audiences,
    pageTurns: createPageTurns({ backlog, reads: limiter, thread: createThreadScheduler() }),
    facts: createEventFacts(),
    ledger,
    reads: limiter,
    databaseClock: Date,
  });
  const connection: Connection = {
    id: "1",
    org: "o",
    uid: "u",
    issuedAt: 0,
    arrival: { transport: "websocket", address: "", client: undefined, since: 0 },
    owner: createOwner(unused),
    isOpen: true,
    deliver: (events) => void heard?.push(...events.map(({ id }) => id)),
    isReadyForMore: async () => true,
    subscribe: () => undefined,
    unsubscribe: () => undefined,
    takings: 0,
    waitingBytes: () => 0,
    end: unused,
    cut: unused,
  };
  return { joiner, connection, roster, heard, given };
}

/** Creates a log purged up to 200, in which five more events are played each time somebody reads. */
function createBusyLog() {
  const ring = createRing(placeOf(event(200)), createBudget());
  let position = 200;
  const goOn = async () => {
    for (let count = 0; count < 5; count++) ring.push(event(++position));
  };
  const sequencer: Sequencer = {
    get position() {
      return position;
    },
    isOver: false,
    reached: async () => undefined,
    verified: goOn,
    playedAfter: ring.after,
    hasRecalled: () => false,
    offer: unused,
    noticeHead: unused,
    forgetBefore: unused,
    stop: unused,
  };
  const log = {
    async readAfter(_: string, offset: number): Promise<LogEvent[]> {
      const found = ring.after(Math.max(200, offset)) ?? [];
      await goOn();
      return found;
    },
  };
  return { sequencer, log };
}

const session = { org: "o", uid: "u", issuedAt: 0, expiresAt: 0, cids: ["c"], hasInboxes: false };

test("a connection that joins where the log was purged misses nothing played during the read", async () => {
  const { sequencer, log } = createBusyLog();
  const { joiner, connection, roster, heard } = createOne({ sequencer, log });
  await joiner.join(connection, { ...session, head: 100, headId: "e100" }, undefined, () => undefined);
  const played = sequencer.position;
  expect(played).toBeGreaterThan(200);
  expect(heard).toEqual(Array.from({ length: played - 200 }, (_, index) => `e${201 + index}`));
  expect(roster.size().connections).toBe(1);
});

test("pieces of a message played meanwhile are written as one, unless something lies between, and the last one is reported", async () => {
  const piece = (at: number, offset: number, text: string, done = false): LogEvent => {
    const payload = appendPayload({ id: "m", cid: "c", from: "a", offset, text, done, t: 1 });
    return { ...event(at), kind: "append", payload, ...(done && { completes: 3 }) };
  };
  const ring = createRing(placeOf(event(9)), createBudget());
  const played = [piece(10, 0, "o"), piece(11, 1, "ne"), event(12), piece(13, 3, " tw"), piece(14, 6, "o", true)];
  for (const one of played) ring.push(one);
  const { sequencer } = createBusyLog();
  const { joiner, connection, given } = createOne({
    sequencer: { ...sequencer, position: 14, verified: async () => undefined, playedAfter: ring.after },
    log: { readAfter: unused },
  });
  const written: string[] = [];
  const deliver: Connection["deliver"] = (events) => void written.push(...events.map(({ payload }) => payload));
  await joiner.join({ ...connection, deliver }, { ...session, head: 9, headId: "e9" }, undefined, () => undefined);
  const [first, last] = [piece(11, 0, "one").payload, piece(14, 3, " two", true).payload];
  expect(written).toEqual([first, event(12).payload, last]);
  expect(given).toEqual(["e12", "e14"]);
});

test("what has expired is not written, neither of a page of missed events nor of those played since", async () => {
  const expired = { expiresAt: 1 };
  const missed = (offset: number, more = {}) =>
    ({ offset, kind: "message", id: `e${offset}`, cid: "c", payload: "{}", isRecipient: true, ...more }) as const;
  const pages = [[missed(2), missed(3, expired), missed(4, { expiresAt: Date.now() + 60_000 })]];
  const ring = createRing(placeOf(event(9)), createBudget());
  for (const one of [{ ...event(10), ...expired }, event(11)]) ring.push(one);
  const { sequencer } = createBusyLog();
  const { joiner, connection, heard, given } = createOne({
    sequencer: { ...sequencer, position: 11, verified: async () => undefined, playedAfter: ring.after },
    log: { readAfter: unused },
    recovery: {
      resumeAfter: async () => ({ offset: 1, grown: [] }),
      readGrown: async () => [],
      read: async () => pages.shift() ?? [],
    },
  });
  await joiner.join(connection, { ...session, head: 9, headId: "e9" }, "e1", () => undefined);
  expect(heard).toEqual(["e2", "e4", "e11"]);
  expect(given).toEqual(["e2", "e4", "e11"]);
});

test("what is taken back while a page of missed events is on its way is not written, and the recall follows", async () => {
  const textOf = (kind: "message" | "edit", id: string) =>
    kind === "message" ? `{"message":{"_id":"${id}"}}` : `{"message_edit":{"id":"${id}"}}`;
  const missed = (offset: number, kind: "message" | "edit", about = `e${offset}`) => {
    return { offset, kind, id: `e${offset}`, cid: "c", payload: textOf(kind, about), isRecipient: true };
  };
  const pages = [[missed(2, "message"), missed(3, "message"), missed(4, "edit", "e2"), missed(5, "edit", "e3")]];
  const ring = createRing(placeOf(event(9)), createBudget());
  let isRecalled = false;
  const recall: LogEvent = { ...event(10), kind: "recall", payload: '{"message_delete":{"ids":["e2"]}}' };
  const sequencer: Sequencer = {
    position: 10,
    isOver: false,
    reached: async () => undefined,
    async verified() {
      if (ring.after(9)?.length !== 0) return;
      ring.push(recall); // plays after the page was read, and before it is handed over
      isRecalled = true;
    },
    playedAfter: ring.after,
    hasRecalled: (message) => isRecalled && message === "e2",
    offer: unused,
    noticeHead: unused,
    forgetBefore: unused,
    stop: unused,
  };
  const recovery: Recovery = {
    resumeAfter: async () => ({ offset: 1, grown: [] }),
    readGrown: async () => [],
    read: async () => pages.shift() ?? [],
  };
  const { joiner, connection, heard, given } = createOne({
    sequencer,
    log: { readAfter: unused },
    recovery,
  });
  await joiner.join(connection, { ...session, head: 9, headId: "e9" }, "e1", () => undefined);
  expect(heard).toEqual(["e3", "e5", "e10"]);
  expect(given).toEqual(["e3"]);
});
