import { rowsOfStatement } from "../lib/queues/steps.ts";
import type { SteadyClock } from "../lib/time/clock.ts";
import { createPoller } from "../lib/time/poller.ts";
import type { ScheduleReads } from "../store/schedule/ports.ts";

/**
 * Does some of what an organization has due by `now`, the time of the database's clock, in one commit. Returns whether
 * anything was left for this node to do. Rejects like the store; then nothing has changed, or the outcome is unknown.
 */
export type WorkSome = (org: string, now: number) => Promise<boolean>;

type Dependencies = {
  /** When something is due, and for whom. `isShared`: whether other nodes may use the same database. */
  due: Pick<ScheduleReads, "next" | "dueOrganizations"> & { isShared: boolean };
  workSome: WorkSome;
  elapsed: SteadyClock;
  random?(): number;
};

// How late a node learns of what another one knew of, and then died.
const lookEveryMs = 800;
// Nodes that know the same time begin one after the other: the first has done most when the next one looks.
const spreadMs = 150;
const placesOfNode = 4;

/**
 * Creates the doing of what is due at a time, such as sends and expiries, on this node or another: one timer, for the next time that
 * anything is due by the database's clock. A node looks then, and every 800 ms, which reads one row of an index.
 */
export function createDueWork({ due, workSome, elapsed, random = Math.random }: Dependencies) {
  let ownAt = Number.NaN; // what this node learnt of last is due about then, by `elapsed`
  let isStopped = false;
  const { start, wakeIn, stop } = createPoller({ poll: doDue, everyMs: lookEveryMs, elapsed });

  /** Whether this node is to be first: it alone uses the database, or it was asked for what is due. */
  function isFirst(inMs: number): boolean {
    return !due.isShared || Math.abs(elapsed.now() + inMs - ownAt) < spreadMs;
  }

  /** Does all that is due. Returns the milliseconds until more is, if known. */
  async function doDue(): Promise<number | undefined> {
    while (!isStopped) {
      const { now, nextAt } = await due.next();
      if (nextAt === undefined) return undefined;
      const inMs = nextAt - now;
      if (inMs > 0) return inMs + (isFirst(inMs) ? 0 : random() * spreadMs);
      const orgs = await due.dueOrganizations(now, rowsOfStatement);
      if (!(await workFor(orgs, now))) return (1 + random()) * spreadMs; // another node is at it
    }
    return undefined;
  }

  /** Does some for each organization. Returns whether this node had anything to do; rejects when all have had their turn. */
  async function workFor(orgs: string[], now: number): Promise<boolean> {
    const waiting = orgs.values();
    let hadWork = false;
    const failures: unknown[] = [];
    const work = async () => {
      for (const org of waiting) {
        if (isStopped) return;
        try {
          if (await workSome(org, now)) hadWork = true;
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
    /** Looks for what is due now, and from now on. Failures are reported to `outages`. */
    start,
    /** This node has learnt of something that is due in `waitMs`. */
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
