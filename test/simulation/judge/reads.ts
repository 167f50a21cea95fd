import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { MessageReadEvent } from "../../../src/contract/messages/reads.ts";
import { lastsAt, type Move, markKey, type Organization } from "../models/organization.ts";

const mostNamed = 100;

/**
 * Describes what is wrong with the reads of a log: a mark that moves back or passes what its author is not told of, also not in
 * a log that was lost, or a message that is read twice or never existed.
 */
export function* judgeReads({ id: org, commits, lost, blankedAt, purgedUpTo }: Organization): Iterable<string> {
  const marks = new Map<string, number>();
  const named = new Set<string>();
  const messages = new Map<string, string>();
  const lostNames = new Set(lost.flatMap((life) => life.commits.flatMap((commit) => namesIn(commit?.event))));
  const members = new Map<string, Set<string>>();

  const hadEnded = ({ offset, id }: LogEvent) =>
    lost.some((life) => life.blankedAt.has(offset) && life.commits[offset]?.event.id === id);

  /**
   * Whose authors are told: of the newest messages of others that a mark has passed, those that have not ended, also in a log
   * that was lost, and whose author has not left.
   */
  function passedBy({ cid, uid, read_to }: Move, before: number, at: number): LogEvent[] {
    const ofOthers = commits.slice(Math.max(before, purgedUpTo) + 1, read_to + 1).flatMap((commit) => {
      if (commit?.told?.kind !== "message" || commit.event.cid !== cid || commit.told.sender === uid) return [];
      return [{ event: commit.event, sender: commit.told.sender }];
    });
    const isThere = (event: LogEvent) =>
      (blankedAt.get(event.offset) ?? Number.POSITIVE_INFINITY) > at && lastsAt(event, at) && !hadEnded(event);
    const told = ofOthers.slice(-mostNamed).filter(({ sender }) => members.get(cid)?.has(sender) === true);
    return told.map(({ event }) => event).filter(isThere);
  }

  for (const commit of commits) {
    if (commit === undefined) continue;
    const { event, change, moves, at } = commit;
    const { cid = "" } = event;
    if (event.kind === "message") messages.set(event.id, cid);
    const present = members.get(cid) ?? new Set();
    members.set(cid, present);
    for (const uid of change?.added ?? []) {
      present.add(uid);
      marks.set(markKey(org, { cid, uid }), event.offset);
    }
    for (const uid of change?.removed ?? []) present.delete(uid);
    if (event.kind === "read") {
      const { message_read: read }: MessageReadEvent = JSON.parse(event.payload);
      for (const id of read.ids) {
        if (messages.get(id) !== read.cid) yield `${event.id} names ${id}, which is no message of ${read.cid}`;
        if (named.has(`${read.from} ${id}`)) yield `${event.id} says again that ${read.from} has read ${id}`;
        named.add(`${read.from} ${id}`);
      }
    }
    for (const move of moves) {
      const before = marks.get(markKey(org, move)) ?? 0;
      if (move.read_to <= before)
        yield `the mark of ${move.uid} in ${move.cid} moves from ${before} to ${move.read_to}`;
      if (move.read_to > event.offset) yield `the mark of ${move.uid} in ${move.cid} is beyond the log`;
      for (const passed of passedBy(move, before, at))
        if (!named.has(`${move.uid} ${passed.id}`) && !lostNames.has(`${move.uid} ${passed.id}`))
          yield `the mark of ${move.uid} in ${move.cid} passes ${passed.id}, of which nobody is told`;
      marks.set(markKey(org, move), move.read_to);
    }
  }
}

/** Who has read what, by a read event. */
function namesIn(event: LogEvent | undefined): string[] {
  if (event?.kind !== "read") return [];
  const { message_read: read }: MessageReadEvent = JSON.parse(event.payload);
  return read.ids.map((id) => `${read.from} ${id}`);
}
