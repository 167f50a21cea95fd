import { firstWithin } from "../../lib/queues/first-within.ts";
import { bytesOfStep } from "../../lib/queues/steps.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { ErasureReads, ErasureWrites } from "../../store/messages/ports.ts";
import type { LogReader, UserReads, UserWrites } from "../../store/ports.ts";
import type { ProposalWrites } from "../../store/proposals/ports.ts";
import type { ScheduleWrites } from "../../store/schedule/ports.ts";
import { createWorkCharges, type WorkingCall } from "../transfer/work-charges.ts";

/** Whose messages to erase, with which key. */
type ErasureWish = { org: string; uid: string; keyId: string };

/** Deletes users together with what they wrote. */
export type Erasures = ReturnType<typeof createErasures>;

type Dependencies = {
  users: Pick<UserReads & UserWrites, "remove">;
  erasures: ErasureReads & ErasureWrites;
  schedule: Pick<ScheduleWrites, "cancelSome">;
  proposals: Pick<ProposalWrites, "removeSome">;
  log: Pick<LogReader, "heads">;
  clock: Clock;
  elapsed: SteadyClock;
};

const mostOfStep = 100; // as in a recall, which clients are told in one event

/** Creates erasures on the store, which take many small commits, so that nobody waits for a long one. */
export function createErasures({ users, erasures, schedule, proposals, log, clock, elapsed }: Dependencies) {
  return {
    /**
     * Deletes the user, cancels what the user is to send later, removes what others proposed to send as this user, and then takes back all messages that the user wrote; resolves with
     * their number, or `undefined` if there never was such a user. Called again, it goes on where it was broken off.
     */
    async erase({ org, uid, keyId }: ErasureWish, call: WorkingCall): Promise<number | undefined> {
      await users.remove(org, uid, clock.now());
      if (!(await erasures.begin(org, uid))) return undefined;
      const upTo = (await log.heads([org])).get(org)?.offset ?? 0;
      const { charge, permit } = createWorkCharges(call, elapsed);
      const waiting = { sender: uid, now: clock.now(), limit: mostOfStep };
      while ((await schedule.cancelSome(org, waiting)) > 0) await charge(1);
      while ((await proposals.removeSome(org, waiting)) > 0) await charge(1);
      const erasure = { org, uid, keyId, at: clock.now() };
      while ((await erasures.eraseReactions(erasure, mostOfStep)) > 0) await charge(1);
      while ((await erasures.eraseHidings(erasure, mostOfStep)) > 0) await charge(1);
      let count = 0;
      for (let after = Number.MIN_SAFE_INTEGER; ; ) {
        const page = await erasures.written({ org, uid, after, upTo });
        if (page === undefined) return count;
        for (let left = page.events; left.length > 0; ) {
          const step = firstWithin(left.slice(0, mostOfStep), ({ bytes }) => bytes, bytesOfStep);
          await erasures.erase({ org, uid, keyId, at: clock.now() }, step);
          await charge(1);
          count += step.filter(({ is }) => is !== "reaction").length;
          left = left.slice(step.length);
        }
        after = page.last;
        await charge(1);
        await permit();
      }
    },
  };
}
