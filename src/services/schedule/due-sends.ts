import { HeraldError } from "../../contract/errors/errors.ts";
import type { ScheduledRequest } from "../../contract/schedule.ts";
import { bytesOfStep } from "../../lib/queues/steps.ts";
import { createId } from "../../lib/text/ids.ts";
import type { KeyReads } from "../../store/keys/ports.ts";
import type { DueSend, ScheduledSend, ScheduleReads, ScheduleWrites, Settled } from "../../store/schedule/ports.ts";
import type { Audit } from "../audit.ts";
import type { WorkSome } from "../due-work.ts";
import { holderOf } from "../keys/holders.ts";
import { type Caller, unlisted } from "../keys/permissions.ts";
import type { OrganizationUse, TellStored } from "../limits/organization-use.ts";
import { errorOfFailure, failureOfRequest, prepareSend } from "./scheduled-requests.ts";

/** How many scheduled sends this node has sent, and found that it could not send. */
export type ScheduleFigures = { sent: number; failed: number };

type Dependencies = {
  schedule: Pick<ScheduleReads, "due"> & Pick<ScheduleWrites, "settle">;
  keys: Pick<KeyReads, "get">;
  use: Pick<OrganizationUse, "know" | "admitSend">;
  readRequest(stored: string): ScheduledRequest;
  audit: Pick<Audit, "record">;
  onError(error: unknown): void;
};

// As much as a batch of sends holds of one organization.
const page = { limit: 64, maxBytes: bytesOfStep };
/** The name of the server's own sends in the audit log. */
const operation = "sendScheduled";

/** A due send on its way: what it asks for, and whom to tell whether it was stored. */
type Attempt = { scheduled: ScheduledSend; request?: ScheduledRequest; entry?: DueSend; tell?: TellStored };

/** Creates the sending of what is due, by the rules of the moment. */
export function createDueSends({ schedule, keys, use, readRequest, audit, onError }: Dependencies) {
  const figures: ScheduleFigures = { sent: 0, failed: 0 };

  async function prepare(attempt: Attempt, caller: Promise<Caller>, now: number): Promise<DueSend> {
    const { id, revision, request } = attempt.scheduled;
    const own = { id, revision, tryId: createId() };
    try {
      attempt.request = readRequest(request ?? "");
      const prepared = await prepareSend(await caller, attempt.request, now);
      attempt.tell = await use.admitSend(prepared.send);
      return { ...own, ...prepared };
    } catch (error) {
      return { ...own, failure: failureOfRequest(error, onError) };
    }
  }

  /** Prepares the sends in order, until the organization's rate allows no more; then returns when to go on. */
  async function prepareAll(attempts: Attempt[], now: number): Promise<number | undefined> {
    const callers = new Map<string, Promise<Caller>>();
    for (const attempt of attempts) {
      const { keyId } = attempt.scheduled;
      const caller = callers.get(keyId) ?? holderOf(keys, { keyId, now, did: "scheduled" });
      caller.catch(() => undefined); // each of its sends fails with it
      callers.set(keyId, caller);
      try {
        attempt.entry = await prepare(attempt, caller, now);
      } catch (error) {
        if (!(error instanceof HeraldError) || error.code !== "rate_limited") throw error;
        return now + Number(error.headers["Retry-After"]) * 1000;
      }
    }
    return undefined;
  }

  /** Counts and records what has ended. Nobody waits for a response, so a failure to record it is only reported. */
  function recordEnds(org: string, attempts: Attempt[], settled: Settled[]): void {
    const results = new Map(settled.map((one) => [one.id, one]));
    for (const { scheduled, request, entry } of attempts) {
      const result = results.get(scheduled.id);
      if (entry === undefined || result === undefined || result.state === "over") continue;
      if (result.state === "failed" && result.error !== undefined) onError(result.error);
      const error = result.state === "failed" ? errorOfFailure(result.failure) : undefined;
      figures[result.state]++;
      const conversation = request !== undefined && "message" in request ? request.message.cid : undefined;
      const recorded = audit.record({
        requestId: entry.tryId,
        operation,
        caller: unlisted(scheduled.keyId),
        address: undefined,
        target: { organization: org, sender: request?.senderId, conversation, scheduled: scheduled.id },
        status: error?.status ?? 201,
        code: error?.code,
      });
      recorded.catch(onError);
    }
  }

  const sendSome: WorkSome = async (org, now) => {
    const due = await schedule.due(org, now, page);
    await use.know(org);
    const attempts: Attempt[] = due.map((scheduled) => ({ scheduled }));
    const stored = new Set<string>();
    try {
      const notBefore = await prepareAll(attempts, now);
      const entries = attempts.flatMap(({ entry }) => entry ?? []);
      const settled = await schedule.settle(org, { now, entries, notBefore });
      for (const one of settled) if (one.state === "sent" && one.isNew) stored.add(one.id);
      recordEnds(org, attempts, settled);
      return settled.length === 0 || settled.some(({ state }) => state !== "over");
    } finally {
      for (const { scheduled, tell } of attempts) tell?.(stored.has(scheduled.id));
    }
  };

  return { figures, sendSome };
}
