import type { ProblemForm } from "../../contract/errors/problem.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import type { OutageEvents } from "../../lib/observing/outages.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { KeyReads } from "../../store/keys/ports.ts";
import type { BatchLog, OrganizationReads } from "../../store/ports.ts";
import type { ScheduleReads, ScheduleWrites } from "../../store/schedule/ports.ts";
import type { Audit } from "../audit.ts";
import { unlisted } from "../keys/permissions.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { createDueSends, type EndedSend } from "./due-sends.ts";
import { createSchedule, type Schedule } from "./schedule.ts";
import { createRequestReader, errorOfFailure } from "./scheduled-requests.ts";
import { createScheduler } from "./scheduler.ts";

/** How many scheduled sends this node has sent, and found that it could not send. */
export type ScheduleFigures = { sent: number; failed: number };

/** Everything about scheduled sends on one node. */
export type Scheduling = {
  schedule: Schedule;
  scheduler: {
    figures: ScheduleFigures;
    /** Begins to send what is due. */
    start(outages: OutageEvents): void;
    /** Ends after the current commit; resolves then. */
    stop(): Promise<void>;
  };
};

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

/** The name of the server's own sends in the audit log. */
const operation = "sendScheduled";

/** Creates the schedule, and what sends from it once it is started. */
export function createScheduling({ limits, elapsed, ...dependencies }: Dependencies): Scheduling {
  const { audit, onError } = dependencies;
  const readRequest = createRequestReader(limits);
  const figures: ScheduleFigures = { sent: 0, failed: 0 };

  /** Records what the server sent. Nobody waits for a response, so a failure is only reported. */
  function recordEnd({ org, id, keyId, tryId, request, failure }: EndedSend): void {
    const error = failure && errorOfFailure(failure);
    figures[error === undefined ? "sent" : "failed"]++;
    const conversation = request !== undefined && "message" in request ? request.message.cid : undefined;
    const recorded = audit.record({
      requestId: tryId,
      operation,
      caller: unlisted(keyId),
      address: undefined,
      target: { organization: org, sender: request?.senderId, conversation, scheduled: id },
      status: error?.status ?? 201,
      code: error?.code,
    });
    recorded.catch(onError);
  }

  const dueSends = createDueSends({
    ...dependencies,
    readRequest,
    onEnd(ended) {
      for (const one of ended) recordEnd(one);
    },
  });
  const { start, stop, expect } = createScheduler({
    ...dependencies,
    dueSends,
    sharesDatabase: dependencies.schedule.isShared,
    elapsed,
  });
  return {
    schedule: createSchedule({ ...dependencies, readRequest, onScheduled: expect }),
    scheduler: { figures, start, stop },
  };
}
