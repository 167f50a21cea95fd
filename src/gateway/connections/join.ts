import { type EventKind, hasExpired, type LogEvent } from "../../contract/log/log-event.ts";
import type { Owner } from "../../lib/owner.ts";
import type { Limiter } from "../../lib/queues/limiter.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Recovery, Resumption } from "../../services/messages/recovery.ts";
import type { Session } from "../../services/sessions/sessions.ts";
import type { DeliveryLedger, PlayedEvent } from "../delivery/delivery-ledger.ts";
import type { Audiences } from "../fanout/audiences.ts";
import {
  type EventFacts,
  endsSession,
  type HeardEvent,
  isAddressed,
  sessionEndOf,
  textIn,
} from "../fanout/event-facts.ts";
import { withRunsJoined } from "../fanout/piece-runs.ts";
import { userTopic } from "../fanout/topics.ts";
import type { Sequencer } from "../log/sequencer.ts";
import type { Log, Sequencers } from "../log/sequencers.ts";
import type { Connection } from "./connection.ts";
import { bytesOf, type PageTurns, pageBytes } from "./page-turns.ts";
import type { Roster } from "./roster.ts";

type MissedEvent = Awaited<ReturnType<Recovery["read"]>>[number];
type Reportable = PlayedEvent & Pick<LogEvent, "kind" | "isOpen" | "completes">;

const pageSize = 100;

/** The kinds of events that the participants of a conversation hear, those of one user, and those that say whom they are addressed to. */
const conversationKinds = new Set<EventKind>(["message", "edit", "recall", "reaction", "append"]);
const ownKinds = new Set<EventKind>(["read", "system_read", "hide"]);
const addressedKinds = new Set<EventKind>(["system", "system_recall"]);

type Dependencies = {
  sequencers: Sequencers;
  recovery: Recovery;
  log: Pick<Log, "readAfter">;
  roster: Roster;
  joining: Roster;
  audiences: Audiences;
  pageTurns: PageTurns;
  facts: Pick<EventFacts, "follow">;
  ledger: Pick<DeliveryLedger, "given">;
  reads: Pick<Limiter, "run">;
  databaseClock: Clock;
};

/** Creates the joiner of one node. */
export function createJoiner(dependencies: Dependencies) {
  const { sequencers, recovery, log, roster, joining, audiences, facts, ledger, reads, databaseClock } = dependencies;
  const { turnPage } = dependencies.pageTurns;

  /** Whether the text of an event may be written: not if it was recalled since it was read, or has expired. */
  function isThere(event: HeardEvent, { hasRecalled }: Sequencer): boolean {
    return !hasRecalled(textIn(event)) && !hasExpired(event, databaseClock.now());
  }

  /** Delivers what was missed, and records it. */
  function give(connection: Connection, { org, uid }: Session, events: readonly MissedEvent[]): void {
    if (events.length === 0 || !connection.isOpen) return;
    connection.deliver([...events]);
    if (!connection.isOpen) return;
    const addressed = events.filter(({ isRecipient }) => isRecipient).map((event) => ({ ...event, org }));
    ledger.given(uid, reportedIn(addressed));
  }

  async function replay(
    connection: Connection,
    session: Session,
    sequencer: Sequencer,
    resumption: Resumption,
  ): Promise<void> {
    const { org } = session;
    const grown = await reads.run(() => recovery.readGrown(session, resumption), { key: org, owner: connection.owner });
    give(
      connection,
      session,
      grown.filter((event) => isThere(event, sequencer)),
    );
    let after = resumption.offset;
    let isWhole = false;
    while (!isWhole && (await connection.isReadyForMore())) {
      await turnPage(
        connection,
        sequencer,
        () => recovery.read(session, after, pageBytes),
        (page) => {
          const end = page.at(-1)?.offset;
          isWhole = end === undefined;
          if (end === undefined) return;
          give(
            connection,
            session,
            page.filter((event) => isThere(event, sequencer)),
          );
          after = end;
        },
      );
    }
  }

  /** Delivers the events that concern the connection, pieces of a message that follow each other as one, and updates `cids` from membership events. */
  function apply(connection: Connection, sequencer: Sequencer, cids: Set<string>, events: LogEvent[]): void {
    const heard: LogEvent[] = [];
    for (const event of events) {
      const { kind, cid = "", uids } = event;
      if (conversationKinds.has(kind) && cids.has(cid) && isThere(event, sequencer)) heard.push(event);
      const isNamed = () => uids?.includes(connection.uid) === true;
      if (addressedKinds.has(kind) && isAddressed(event, cids, isNamed) && isThere(event, sequencer)) heard.push(event);
      if (ownKinds.has(kind) && isNamed()) heard.push(event);
      if (kind === "membership") facts.follow(event, connection.uid, cids);
      if (kind === "session" && endsSession(sessionEndOf(event), connection)) {
        connection.end("removed");
        return;
      }
    }
    if (heard.length > 0) connection.deliver(withRunsJoined(heard));
    if (connection.isOpen) ledger.given(connection.uid, reportedIn(heard));
  }

  // What an owner holds keeps the scope of its function in memory, so these two are not part of `join`.
  async function follow(org: string, owner: Owner): Promise<Sequencer> {
    const sequencer = await sequencers.acquire(org);
    owner.hold(() => sequencers.release(sequencer));
    return sequencer;
  }

  function subscribe(connection: Connection, cids: ReadonlySet<string>): void {
    const { owner, org, uid } = connection;
    connection.subscribe(userTopic(org, uid));
    owner.hold(() => audiences.leaveAll(connection));
    audiences.joinOrganization(connection);
    for (const cid of cids) audiences.join(connection, cid);
    roster.add(connection);
    owner.hold(() => roster.remove(connection));
  }

  return {
    /**
     * Joins without a gap: with `since`, delivers what was missed; then, in one synchronous step, delivers what was
     * played since the session's snapshot and subscribes. Calls `admit` just before anything is sent; `isRecovered` is
     * `undefined` without `since`. Resolves when the connection has joined or is gone; everything taken for it belongs to
     * its owner.
     */
    async join(
      connection: Connection,
      session: Session,
      since: string | undefined,
      admit: (isRecovered: boolean | undefined) => void,
    ): Promise<void> {
      const { owner } = connection;
      const { org, head, headId } = session;
      const sequencer = await follow(org, owner);
      if (!connection.isOpen) return;
      joining.add(connection);
      const leaveJoining = owner.hold(() => joining.remove(connection));
      await sequencer.reached(head, headId);
      if (!connection.isOpen) return;
      const resumption =
        since === undefined
          ? undefined
          : await reads.run(() => recovery.resumeAfter(session, since), { key: org, owner });
      if (!connection.isOpen) return;
      admit(since === undefined ? undefined : resumption !== undefined);
      if (resumption !== undefined) await replay(connection, session, sequencer, resumption);

      const cids = new Set(session.cids);
      let cursor = head;
      while (await connection.isReadyForMore()) {
        const played = sequencer.playedAfter(cursor);
        if (played !== undefined && bytesOf(played) <= pageBytes) {
          apply(connection, sequencer, cids, played);
          if (!connection.isOpen) return;
          subscribe(connection, cids);
          joining.remove(connection);
          leaveJoining();
          return;
        }
        // More was played than fits at once: read part of it, at the connection's pace, and look again.
        const upTo = sequencer.position; // taken before the read, so that the read includes everything up to it
        await turnPage(
          connection,
          sequencer,
          () => log.readAfter(org, cursor, pageSize, pageBytes),
          (read) => {
            const page = read.filter(({ offset }) => offset <= upTo);
            cursor = page.at(-1)?.offset ?? upTo; // an empty page means that it was purged
            apply(connection, sequencer, cids, page);
          },
        );
      }
    },
  };
}

/** Joins connections to their organization's event stream. */
export type Joiner = ReturnType<typeof createJoiner>;

/** The events whose deliveries a report tells: a message that grows is delivered with its last piece. */
function reportedIn(events: readonly Reportable[]): PlayedEvent[] {
  return events.flatMap((event): PlayedEvent[] => {
    const { kind, isOpen, completes } = event;
    if (kind === "append") return completes === undefined ? [] : [{ ...event, offset: completes }];
    return !isOpen && (kind === "message" || kind === "system") ? [event] : [];
  });
}
