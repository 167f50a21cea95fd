import type { ProblemForm } from "../../contract/errors/problem.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { KeyReads } from "../../store/keys/ports.ts";
import type { BatchLog, OrganizationReads } from "../../store/ports.ts";
import type { ScheduleReads, ScheduleWrites } from "../../store/schedule/ports.ts";
import type { Audit } from "../audit.ts";
import { createDueWork } from "../due-work.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { createDueSends } from "./due-sends.ts";
import { createSchedule } from "./schedule.ts";
import { createRequestReader } from "./scheduled-requests.ts";

/** Everything about scheduled sends on one node. */
export type Scheduling = ReturnType<typeof createScheduling>;

type Dependencies = {
  schedule: ScheduleReads & ScheduleWrites & { isShared: boolean };
  keys: Pick<KeyReads, "get">;
  organizations: Pick<OrganizationReads, "get">;
  checks: Pick<BatchLog, "check">;
  use: Pick<OrganizationUse, "know" | "admitSend" | "requireRoomFor" | "reserveRoom">;
  limits: PayloadLimits;
  clock: Clock;
  elapsed: SteadyClock;
  problemForm?: ProblemForm;
  /** Spreads the looks of nodes: a number from 0 to 1; that of `Math` by default. */
  random?(): number;
  audit: Pick<Audit, "record">;
  onError(error: unknown): void;
};

/** Creates the schedule, and what sends from it once it is started. */
export function createScheduling({ limits, ...dependencies }: Dependencies) {
  const readRequest = createRequestReader(limits);
  const { figures, sendSome } = createDueSends({ ...dependencies, readRequest });
  const { start, stop, expect } = createDueWork({ ...dependencies, due: dependencies.schedule, workSome: sendSome });
  return {
    schedule: createSchedule({ ...dependencies, readRequest, onScheduled: expect }),
    scheduler: { figures, start, stop },
  };
}
