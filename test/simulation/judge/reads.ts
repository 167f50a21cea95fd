import type { MessageReadEvent } from "../../../src/contract/messages/reads.ts";
import { markKey, type Organization } from "../models/organization.ts";

/** Describes what is wrong with the reads of a log: a mark that moves back, or a message that is read twice or never existed. */
export function* judgeReads({ id: org, commits }: Organization): Iterable<string> {
  const marks = new Map<string, number>();
  const named = new Set<string>();
  const messages = new Map<string, string>();
  for (const commit of commits) {
    if (commit === undefined) continue;
    const { event, change, moves } = commit;
    if (event.kind === "message") messages.set(event.id, event.cid ?? "");
    for (const uid of change?.added ?? []) marks.set(markKey(org, { cid: event.cid ?? "", uid }), event.offset);
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
      marks.set(markKey(org, move), move.read_to);
    }
  }
}
