import type { LogEvent, MembershipChange, SessionEnd } from "../contract/log-event.ts";
import type { Limiter } from "../lib/limiter.ts";
import { nextTurn } from "../lib/next-turn.ts";
import type { CatchUp } from "../services/catch-up.ts";
import type { DeliveryLedger } from "../services/delivery-ledger.ts";
import type { Session } from "../services/sessions.ts";
import type { Audiences } from "./audiences.ts";
import type { Connection } from "./connection.ts";
import { endsSession } from "./player.ts";
import type { Roster } from "./roster.ts";
import type { Sequencer } from "./sequencer.ts";
import type { Log, Sequencers } from "./sequencers.ts";
import { userTopic } from "./topics.ts";

const bytesAtOnce = 256 * 1024;
const pageSize = 100;

type Dependencies = {
  sequencers: Sequencers;
  catchUp: CatchUp;
  log: Pick<Log, "readAfter">;
  roster: Roster;
  joining: Roster;
  audiences: Audiences;
  ledger: Pick<DeliveryLedger, "given">;
  /** Bounds how many reads of what was missed are under way. */
  reads: Limiter;
};

/** Lets connections into the stream of their organization's events. */
export type Joiner = {
  /**
   * Joins without a gap: first, with `since`, what was missed; then, in one synchronous step, what was played after the
   * session's snapshot, and the subscription. Calls `admit` just before anything is sent: `isRecovered` is `undefined`
   * without `since`. Resolves when the connection has joined or is gone; what was taken for it belongs to its owner.
   */
  join(
    connection: Connection,
    session: Session,
    since: string | undefined,
    admit: (isRecovered: boolean | undefined) => void,
  ): Promise<void>;
};

/** Joins connections of one node. */
export function createJoiner(dependencies: Dependencies): Joiner {
  const { sequencers, catchUp, log, roster, joining, audiences, ledger, reads } = dependencies;

  async function replay(
    connection: Connection,
    session: Session,
    sequencer: Sequencer,
    resumeAfter: number,
  ): Promise<void> {
    let after = resumeAfter;
    while (await connection.isReadyForMore()) {
      const page = await reads.run(() => catchUp.read(session, after), connection.owner, session.org);
      await sequencer.verified(); // so that no page is of another log than those before
      const end = page.at(-1)?.offset;
      if (end === undefined) return;
      for (const part of partsOf(page)) {
        if (!(await connection.isReadyForMore())) return;
        connection.deliver(part.map(({ id, payload }) => ({ kind: "message", id, payload })));
        if (!connection.isOpen) return;
        const { org, uid } = session;
        ledger.given(
          uid,
          part.filter(({ isRecipient }) => isRecipient).map((message) => ({ ...message, org })),
        );
      }
      after = end;
    }
  }

  return {
    async join(connection, session, since, admit) {
      const { owner } = connection;
      const { org, uid, head, headId } = session;
      const sequencer = await sequencers.acquire(org);
      owner.hold(() => sequencers.release(sequencer));
      if (!connection.isOpen) return;
      joining.add(connection);
      const leaveJoining = owner.hold(() => joining.remove(connection));
      await sequencer.reached(head, headId);
      if (!connection.isOpen) return;
      const resumeAfter =
        since === undefined ? undefined : await reads.run(() => catchUp.resumeAfter(session, since), owner, org);
      if (!connection.isOpen) return;
      admit(since === undefined ? undefined : resumeAfter !== undefined);
      if (resumeAfter !== undefined) await replay(connection, session, sequencer, resumeAfter);

      const cids = new Set(session.cids);
      let cursor = head;
      while (connection.isOpen) {
        const played = sequencer.playedAfter(cursor);
        if (played !== undefined && bytesOf(played) <= bytesAtOnce) {
          apply(connection, cids, played, ledger);
          if (!connection.isOpen) return;
          connection.subscribe(userTopic(org, uid));
          owner.hold(() => audiences.leaveAll(connection));
          for (const cid of cids) audiences.join(connection, cid);
          joining.remove(connection);
          leaveJoining();
          roster.add(connection);
          owner.hold(() => roster.remove(connection));
          return;
        }
        // The log moved on by more than fits at once: take a part of it, at the pace of the connection, and look again.
        const upTo = sequencer.position; // before the read, which so sees all of it that there is
        const read = await reads.run(() => log.readAfter(org, cursor, pageSize), owner, org);
        await sequencer.verified();
        const page = read.filter(({ offset }) => offset <= upTo);
        cursor = page.at(-1)?.offset ?? upTo; // nothing there: it was purged
        for (const part of partsOf(page)) {
          apply(connection, cids, part, ledger);
          if (!(await connection.isReadyForMore())) return;
        }
        await nextTurn();
      }
    },
  };
}

/** Gives the connection those of `events` that concern it, and lets `cids` and the connection follow the rest. */
function apply(
  connection: Connection,
  cids: Set<string>,
  events: LogEvent[],
  ledger: Pick<DeliveryLedger, "given">,
): void {
  const heard: LogEvent[] = [];
  for (const event of events) {
    const { kind, cid = "", payload, uids } = event;
    if (kind === "message" && cids.has(cid)) heard.push(event);
    if (kind === "system" && uids?.includes(connection.uid)) heard.push(event);
    if (kind === "membership") {
      const change: MembershipChange = JSON.parse(payload);
      if (change.added.includes(connection.uid)) cids.add(cid);
      if (change.removed.includes(connection.uid)) cids.delete(cid);
    }
    if (kind === "session") {
      const end: SessionEnd = JSON.parse(payload);
      if (endsSession(end, connection)) {
        connection.end("removed");
        return;
      }
    }
  }
  if (heard.length > 0) connection.deliver(heard);
  if (connection.isOpen) ledger.given(connection.uid, heard);
}

/** Cuts events into runs of about `bytesAtOnce`, so that a healthy reader keeps up with what is replayed to it. */
function partsOf<Event extends { payload: string }>(events: Event[]): Event[][] {
  const parts: Event[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const event of events) {
    if (bytes >= bytesAtOnce) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(event);
    bytes += event.payload.length;
  }
  return parts;
}

function bytesOf(events: LogEvent[]): number {
  return events.reduce((sum, { payload }) => sum + payload.length, 0);
}
