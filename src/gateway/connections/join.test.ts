import { expect, test } from "bun:test";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { createTurnstile } from "../../lib/event-loop/turnstile.ts";
import { createOwner } from "../../lib/owner.ts";
import { createLimiter } from "../../lib/queues/limiter.ts";
import { createPacedWork } from "../../lib/queues/paced-work.ts";
import type { DeliveryLedger } from "../delivery/delivery-ledger.ts";
import { createAudiences } from "../fanout/audiences.ts";
import { createEventFacts } from "../fanout/event-facts.ts";
import { createRecalled } from "../fanout/recalled.ts";
import { createBacklog } from "../limits/backlog.ts";
import { createBudget } from "../log/budget.ts";
import { createRing } from "../log/ring.ts";
import type { Sequencer } from "../log/sequencer.ts";
import { event, placeOf } from "../log/testing/sequencer-setup.ts";
import type { Connection } from "./connection.ts";
import { createJoiner } from "./join.ts";
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

test("a connection that joins where the log was purged misses nothing played during the read", async () => {
  const { sequencer, log } = createBusyLog();
  const heard: string[] = [];
  const ledger: Pick<DeliveryLedger, "given"> = { given: () => undefined };
  const [roster, joining, audiences] = [createRoster(), createRoster(), createAudiences()];
  const joiner = createJoiner({
    sequencers: {
      acquire: async () => sequencer,
      release: () => undefined,
      checkHeads: unused,
      playToHeads: unused,
      lag: { events: 0, checkedAt: undefined },
      held: 0,
      stop: unused,
    },
    catchUp: { resumeAfter: unused, read: unused },
    log,
    roster,
    joining,
    audiences,
    backlog,
    facts: createEventFacts(),
    recalled: createRecalled(),
    ledger,
    reads: createPacedWork({ limiter, pauseMs: 16 }),
    handover: createTurnstile(1),
  });
  const connection: Connection = {
    id: "1",
    org: "o",
    uid: "u",
    issuedAt: 0,
    owner: createOwner(unused),
    isOpen: true,
    deliver: (events) => void heard.push(...events.map(({ id }) => id)),
    isReadyForMore: async () => true,
    subscribe: () => undefined,
    unsubscribe: () => undefined,
    takings: 0,
    waitingBytes: () => 0,
    end: unused,
    cut: unused,
  };
  const session = { org: "o", uid: "u", issuedAt: 0, expiresAt: 0, head: 100, headId: "e100", cids: ["c"] };
  await joiner.join(connection, session, undefined, () => undefined);
  const played = sequencer.position;
  expect(played).toBeGreaterThan(200);
  expect(heard).toEqual(Array.from({ length: played - 200 }, (_, index) => `e${201 + index}`));
  expect(roster.size().connections).toBe(1);
});
