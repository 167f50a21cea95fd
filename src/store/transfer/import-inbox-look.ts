import { isUuidV7, joinIds } from "../../lib/text/ids.ts";
import { readMarks } from "../inbox/inbox-reads.ts";
import { cidOfEveryone, placeOfUser } from "../inbox/places.ts";
import type { Marks } from "../inbox/ports.ts";
import { importedSystemKind, systemKinds } from "../log/past.ts";
import type { Row, Rows } from "../sql/driver.ts";
import { type FoundEvent, findEvents } from "./import-events.ts";
import type { ImportPart, Range } from "./ports.ts";

/** What a part names of inboxes and is there already. */
export type FoundInboxes = {
  /** Kept system messages, imported or sent, by the ids of their events. */
  events: Map<string, FoundEvent>;
  /** Those that were taken back, which an export names by the ids of their events. */
  recalled: Set<string>;
  /** The `mid`s that imported ones have, each with its sender. */
  mids: Set<string>;
  /** The rows of recipients of these system messages: places and offsets. */
  rows: Set<string>;
  /** What each user has marked. */
  marks: Map<string, Marks>;
  /** The ranges of users and conversations; without one, of everyone. */
  ranges: Map<string, Range[]>;
};

type RangeRow = Row & { cid: string; uid: string; log_start: number; log_end: number };

/** Reads what a part names of inboxes. */
export async function lookAtInboxes(rows: Pick<Rows, "find">, { org, items }: ImportPart): Promise<FoundInboxes> {
  const [eventIds, recalledIds, uids] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const [mids, pairs] = [new Map<string, Row>(), new Map<string, Row>()];
  const recipients: { id: string; uids: string[] }[] = [];
  for (const item of items) {
    if (item.kind === "system_message") {
      const { id, mid, sender, isOver } = item;
      eventIds.add(id);
      if (isOver && isUuidV7(mid)) recalledIds.add(mid);
      mids.set(joinIds(sender, mid), { mid, sender, org, kind: importedSystemKind });
      recipients.push({ id, uids: item.recipients });
    } else if (item.kind === "recipients") {
      eventIds.add(item.of.id);
      recipients.push({ id: item.of.id, uids: item.uids });
    } else if (item.kind === "system_message_read") {
      eventIds.add(item.eventId);
      uids.add(item.uid);
    } else if (item.kind === "inbox_range") {
      const { uid, cid = cidOfEveryone, after, upTo } = item;
      for (const id of [after, upTo]) if (id !== undefined) eventIds.add(id);
      if (upTo !== undefined) pairs.set(joinIds(cid, uid), { org, cid, uid });
    }
  }
  const [events, recalled, taken, marks, ranges] = await Promise.all([
    findEvents(
      rows,
      Array.from(eventIds, (id) => ({ id, org })),
    ),
    rows.find<Row & { id: string }>(
      "event",
      ["id"],
      [...recalledIds].flatMap((id) => systemKinds.map((kind) => ({ id, org, kind }))),
    ),
    rows.find<Row & { mid: string; sender: string }>("event", ["mid", "sender"], [...mids.values()]),
    rows.find<Row & { uid: string; marks: string }>(
      "inbox_mark",
      ["uid", "marks"],
      Array.from(uids, (uid) => ({ org, uid })),
    ),
    rows.find<RangeRow>("former_participant", ["cid", "uid", "log_start", "log_end"], [...pairs.values()]),
  ]);
  const offsets = new Map(events.map(({ id, offset }) => [id, offset]));
  const placed = recipients.flatMap(({ id, uids: named }) => {
    const offset = offsets.get(id);
    return offset === undefined ? [] : named.map((uid) => ({ org, place: placeOfUser(uid), offset }));
  });
  const there = await rows.find<Row & { place: string; offset: number }>("inbox", ["place", "offset"], placed);
  return {
    events: new Map(events.map((event) => [event.id, event])),
    rows: new Set(there.map(({ place, offset }) => joinIds(place, Number(offset)))),
    recalled: new Set(recalled.map(({ id }) => id)),
    mids: new Set(taken.map(({ mid, sender }) => joinIds(sender, mid))),
    marks: new Map(marks.map(({ uid, marks: text }) => [uid, readMarks(text)])),
    ranges: groupRanges(ranges),
  };
}

function groupRanges(rows: readonly RangeRow[]): Map<string, Range[]> {
  const groups = Map.groupBy(rows, ({ cid, uid }) => joinIds(cid, uid));
  return new Map(
    [...groups].map(([key, ofKey]) => [
      key,
      ofKey.map(({ log_start, log_end }) => ({ after: Number(log_start), upTo: Number(log_end) })),
    ]),
  );
}
