import { z } from "zod";
import { HeraldError, invalidRequest, unavailable } from "../../contract/errors/errors.ts";
import { absent, errorAbout } from "../../contract/errors/naming.ts";
import { type ProblemForm, problemDocument } from "../../contract/errors/problem.ts";
import { isWithinAYear, toIso } from "../../contract/identifiers.ts";
import { hasExpired } from "../../contract/log/log-event.ts";
import type { ScheduledRequest, ScheduledSendShown } from "../../contract/schedule.ts";
import { encodeCursor } from "../../lib/text/cursor.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { BatchLog, NewSend, OrganizationReads } from "../../store/ports.ts";
import type {
  Failure,
  NewScheduledSend,
  ScheduledSend,
  ScheduledState,
  ScheduleReads,
  ScheduleWrites,
} from "../../store/schedule/ports.ts";
import { refuseMissing, requireOrganization } from "../directory/directory.ts";
import { type Caller, proofOf } from "../keys/permissions.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { requireFit } from "../messages/dry-runs.ts";
import { expiryPointer, fingerprintOf } from "../messages/messages.ts";
import { type Page, type PageQuery, parseCursor } from "../pages.ts";
import { errorOfFailure, permitRequest, prepareSend, requireOwn } from "./scheduled-requests.ts";

/** Schedules sends, and shows and cancels them. */
export type Schedule = ReturnType<typeof createSchedule>;

/** The organization of a scheduled send, and its id. */
type Place = { org: string; id: string };

/** What to send, and when, in milliseconds since the Unix epoch. */
type ScheduleOrder = { send_at: number; request: ScheduledRequest };

type ScheduleQuery = PageQuery & { state?: ScheduledState | undefined };

type Dependencies = {
  schedule: ScheduleReads & ScheduleWrites;
  organizations: Pick<OrganizationReads, "get">;
  checks: Pick<BatchLog, "check">;
  use: Pick<OrganizationUse, "requireRoomFor" | "reserveRoom">;
  readRequest(stored: string): ScheduledRequest;
  /** The clock that keys expire by. */
  clock: Clock;
  /** Called when a send was scheduled, with how long it has to wait. */
  onScheduled(waitMs: number): void;
  problemForm?: ProblemForm | undefined;
};

const mostWaiting = 100_000;
const tooMany = `${mostWaiting} sends of this organization are waiting, which is the maximum; cancel some, or wait until they are sent`;
const maxPageBytes = 512 * 1024;
const attempts = 5;
const pagePlace = z.strictObject({ sendAt: z.number(), id: z.string() });

/** Creates the schedule on the store. The clock of the database decides what is in the past. */
export function createSchedule(dependencies: Dependencies) {
  const { schedule, organizations, checks, use, readRequest, clock, onScheduled, problemForm } = dependencies;

  /** Checks that the caller could send what waits, and so may replace or cancel it. */
  function permitWaiting(caller: Caller, { request }: ScheduledSend): void {
    if (request !== null) permitRequest(caller, readRequest(request));
  }

  async function store(caller: Caller, org: string, send: NewScheduledSend): Promise<ScheduledSend | undefined> {
    const room = use.reserveRoom(org, Buffer.byteLength(send.request));
    if (room.error !== undefined) throw room.error;
    let isStored = false;
    try {
      const put = await schedule.put(org, send, proofOf(caller, clock.now()));
      if (put.outcome === "missing") throw errorAbout("organization_not_found", { organization: org });
      if (put.outcome === "too_many") throw invalidRequest("", tooMany);
      isStored = put.outcome === "done";
      return put.outcome === "done" ? put.send : undefined;
    } finally {
      room.end(isStored);
    }
  }

  async function tryPut(caller: Caller, { org, id }: Place, { send_at: sendAt, request }: ScheduleOrder) {
    const { now, found } = await schedule.find(org, id);
    requireWithinAYear(sendAt, now);
    const { send } = await prepareSend(caller, request, now);
    requireLasting(send, Math.max(sendAt, now));
    const fingerprint = fingerprintOf([sendAt, request]);
    if (found !== undefined) {
      const isWaiting = found.state === "waiting";
      if (found.fingerprint === fingerprint && (!isWaiting || found.keyId === caller.keyId))
        return { shown: show(found), isNew: false };
      if (!isWaiting) throw over(found);
      permitWaiting(caller, found);
    }
    await requireFit({ checks, use }, send);
    const stored = await store(caller, org, {
      id,
      sendAt,
      request: JSON.stringify(request),
      sender: request.senderId,
      fingerprint,
      revision: createId(),
      keyId: caller.keyId,
      now,
      replaces: found?.revision,
      mostWaiting,
    });
    if (stored === undefined) return undefined;
    onScheduled(sendAt - now);
    return { shown: show(stored), isNew: found === undefined };
  }

  async function tryCancel(caller: Caller, { org, id }: Place): Promise<true | undefined> {
    const { now, found } = await schedule.find(org, id);
    if (found === undefined) return await missing({ org, id });
    if (found.state === "cancelled") return true;
    if (found.state !== "waiting") throw over(found);
    permitWaiting(caller, found);
    return (await schedule.cancel(org, id, { revision: found.revision, now })) || undefined;
  }

  const missing = ({ org, id }: Place) => refuseMissing(organizations, org, absent("scheduled send", id));

  function show(scheduled: ScheduledSend): ScheduledSendShown {
    const { id, state, sendAt, request, createdAt, endedAt, serverMid, problem, tryId } = scheduled;
    const failure: Failure | undefined = problem === null ? undefined : JSON.parse(problem);
    return {
      id,
      send_at: toIso(sendAt),
      state,
      request: request === null ? null : JSON.parse(request),
      created_at: toIso(createdAt),
      sent_at: state === "sent" && endedAt !== null ? toIso(endedAt) : null,
      server_mid: serverMid,
      problem: failure === undefined ? null : problemDocument(errorOfFailure(failure), tryId ?? "", problemForm),
    };
  }

  return {
    /**
     * Schedules a send, or replaces one that waits. The same again changes nothing. Throws what the send would throw, and
     * `already_sent` if it no longer waits.
     */
    async put(caller: Caller, place: Place, order: ScheduleOrder) {
      requireOwn(caller, place.org, order.request);
      return await untilDone(() => tryPut(caller, place, order));
    },
    /** Throws for an order that `put` refuses, except for conflicts with what is scheduled and what a dry run of its request finds. */
    async check(caller: Caller, org: string, { send_at: sendAt, request }: ScheduleOrder): Promise<void> {
      requireOwn(caller, org, request);
      permitRequest(caller, request);
      requireWithinAYear(sendAt, (await schedule.next()).now);
    },
    /** Throws `not_found`. */
    async get({ org, id }: Place): Promise<ScheduledSendShown> {
      const { found } = await schedule.find(org, id);
      return show(found ?? (await missing({ org, id })));
    },
    async list(org: string, { limit, cursor, state }: ScheduleQuery): Promise<Page<ScheduledSendShown>> {
      await requireOrganization(organizations, org);
      const after = parseCursor(cursor, pagePlace);
      const { items, hasMore } = await schedule.list(org, { state, after, limit, maxBytes: maxPageBytes });
      const last = hasMore ? items.at(-1) : undefined;
      return {
        items: items.map(show),
        cursor: last === undefined ? null : encodeCursor({ sendAt: last.sendAt, id: last.id }),
      };
    },
    /** Cancels a send that waits. Throws `already_sent` if it was sent or has failed. */
    async cancel(caller: Caller, place: Place): Promise<void> {
      await untilDone(() => tryCancel(caller, place));
    },
  };
}

/** Repeats what others changed meanwhile. */
async function untilDone<Result>(work: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const result = await work();
    if (result !== undefined) return result;
  }
  throw unavailable({ detail: "other calls are changing the same scheduled send; try again" });
}

function requireWithinAYear(sendAt: number, now: number): void {
  if (!isWithinAYear(sendAt, now)) throw invalidRequest("/send_at", "must be at most a year ahead");
}

/** Throws if a send expires before it is sent. */
function requireLasting(send: NewSend, sendAt: number): void {
  if (hasExpired(send, sendAt)) throw invalidRequest(`/request${expiryPointer(send)}`, "must be after `send_at`");
}

const ends = { sent: "it was sent", failed: "it has failed", cancelled: "it was cancelled" };

function over({ id, state }: ScheduledSend): HeraldError {
  const end = state === "waiting" ? "" : ends[state];
  return new HeraldError("already_sent", `the scheduled send \`${id}\` no longer waits: ${end}; choose a new id`);
}
