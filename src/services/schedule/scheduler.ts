import { rowsOfStatement } from "../../lib/queues/steps.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import { createPoller } from "../../lib/time/poller.ts";
import type { ScheduleReads } from "../../store/schedule/ports.ts";
import type { SendSome } from "./due-sends.ts";

type Dependencies = {
  /** `isShared`: whether other nodes may use the same database. */
  schedule: Pick<ScheduleReads, "next" | "dueOrganizations"> & { isShared: boolean };
  sendSome: SendSome;
  elapsed: SteadyClock;
  random?(): number;
};

// How late a node learns of a send that another one scheduled and then died.
const lookEveryMs = 800;
// Nodes that know the same time begin one after the other: the first has sent most when the next one looks.
const spreadMs = 150;
const placesOfNode = 4;

/**
 * Creates the scheduler of sends, which are sent when they are due, on this node or another: one timer, for the next time that
 * anything is due by the database's clock. A node looks at the schedule then, and every 800 ms, which reads one row of an index.
 */
export function createScheduler({ schedule, sendSome, elapsed, random = Math.random }: Dependencies) {
  let ownAt = Number.NaN; // what was scheduled here last is due about then, by `elapsed`
  let isStopped = false;
  const { start, wakeIn, stop } = createPoller({ poll: sendDue, everyMs: lookEveryMs, elapsed });

  /** Whether this node is to be first: it alone uses the database, or it was asked to send what is due. */
  function isFirst(inMs: number): boolean {
    return !schedule.isShared || Math.abs(elapsed.now() + inMs - ownAt) < spreadMs;
  }

  /** Sends all that is due. Returns the milliseconds until more is, if known. */
  async function sendDue(): Promise<number | undefined> {
    while (!isStopped) {
      const { now, nextAt } = await schedule.next();
      if (nextAt === undefined) return undefined;
      const inMs = nextAt - now;
      if (inMs > 0) return inMs + (isFirst(inMs) ? 0 : random() * spreadMs);
      const orgs = await schedule.dueOrganizations(now, rowsOfStatement);
      if (!(await sendOf(orgs, now))) return (1 + random()) * spreadMs; // another node is at it
    }
    return undefined;
  }

  /** Sends some of each organization. Returns whether this node had anything to do; rejects when all have had their turn. */
  async function sendOf(orgs: string[], now: number): Promise<boolean> {
    const waiting = orgs.values();
    let hadWork = false;
    const failures: unknown[] = [];
    const work = async () => {
      for (const org of waiting) {
        if (isStopped) return;
        try {
          if (await sendSome(org, now)) hadWork = true;
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: placesOfNode }, work));
    if (failures.length > 0) throw failures[0];
    return hadWork;
  }

  return {
    /** Looks at the schedule now, and from now on. Failures are reported to `outages`. */
    start,
    /** A send was scheduled here that is due in `waitMs`. */
    expect(waitMs: number): void {
      ownAt = elapsed.now() + waitMs;
      wakeIn(waitMs);
    },
    /** Ends the work after its current commit; resolves then. */
    async stop(): Promise<void> {
      isStopped = true;
      await stop();
    },
  };
}
