import { isUuidV7, joinIds } from "../../lib/text/ids.ts";
import { importedKind } from "../log/past.ts";
import type { Row, Rows } from "../sql/driver.ts";
import { createMapping, type Mapped, nullable, number, optional, text } from "../sql/mapping.ts";
import { type FoundEvent, findEvents } from "./import-events.ts";
import { type FoundInboxes, lookAtInboxes } from "./import-inbox-look.ts";
import type { ImportItem, ImportPart } from "./ports.ts";

/** A stored user; a deleted one has kept its row. `pastStart`: as in the table. */
export type FoundUser = {
  name: string | null;
  blockedAt: number | null;
  isDeleted: boolean;
  pastStart: number | null;
};

const conversationMapping = createMapping({
  id: text("id"),
  name: nullable(text("name")),
  participants: number("participants"),
  createdAt: number("created_at"),
  updatedAt: number("updated_at"),
  logStart: number("log_start"),
  /** What was imported to it lies after this offset. */
  pastStart: optional(number("past_start")),
});

/** A stored conversation. */
export type FoundConversation = Omit<Mapped<typeof conversationMapping>, "id">;

/** What a part names and is there already. */
export type Found = {
  users: Map<string, FoundUser>;
  conversations: Map<string, FoundConversation>;
  /** Where what was imported for each participant begins, as in the table. */
  participants: Map<string, number | null>;
  imported: Map<string, FoundEvent>;
  sent: Map<string, FoundEvent>;
  /** Who has reacted to which message of the part, and how, as `reactionKeyOf` makes them. */
  reactions: Set<string>;
  inboxes: FoundInboxes;
};

type UserRow = Row & {
  id: string;
  name: string | null;
  blocked_at: number | null;
  deleted_at: number | null;
  past_start: number | null;
};
type ParticipantRow = Row & { cid: string; uid: string; past_start: number | null };

const userColumns = ["id", "name", "blocked_at", "deleted_at", "past_start"];

/** Reads what a part names. */
export async function lookAt(rows: Pick<Rows, "find">, part: ImportPart): Promise<Found> {
  const { org } = part;
  const { uids, cids, pairs, importIds } = namesIn(part);
  const byId = (ids: Iterable<string>) => Array.from(ids, (id) => ({ org, id }));
  const findConversations = async (ids: Iterable<string>) =>
    (await rows.find<Row>("conversation", conversationMapping.names, byId(ids))).map(conversationMapping.read);
  const importedBefore = Array.from(importIds, (mid) => ({ mid, org, kind: importedKind }));
  const sentBefore = [...importIds].filter(isUuidV7).map((id) => ({ id, org, kind: "message" }));
  const [users, conversations, participants, imported, sent, inboxes] = await Promise.all([
    rows.find<UserRow>("user", userColumns, byId(uids)),
    findConversations(cids),
    rows.find<ParticipantRow>("participant", ["cid", "uid", "past_start"], [...pairs.values()]),
    findEvents(rows, importedBefore),
    findEvents(rows, sentBefore),
    lookAtInboxes(rows, part),
  ]);
  const events = [...imported, ...sent, ...inboxes.events.values()];
  const elsewhere = new Set(events.flatMap(({ cid }) => (cid === undefined || cids.has(cid) ? [] : [cid])));
  const others = await findConversations(elsewhere);
  return {
    users: new Map(users.map((row) => [row.id, toUser(row)])),
    conversations: new Map([...conversations, ...others].map(({ id, ...found }) => [id, found])),
    participants: new Map(participants.map(({ cid, uid, past_start }) => [joinIds(cid, uid), numberIn(past_start)])),
    imported: new Map(imported.map((event) => [event.mid ?? "", event])),
    sent: new Map(sent.map((event) => [event.id, event])),
    reactions: await findReactions(rows, part, [...imported, ...sent]),
    inboxes,
  };
}

/** The key of a user's reaction to the message of an event. */
export function reactionKeyOf(id: string, uid: string, reaction: string): string {
  return joinIds(id, uid, reaction);
}

/** Those of the reactions of a part that are there. */
async function findReactions(
  rows: Pick<Rows, "find">,
  { org, items }: ImportPart,
  events: readonly FoundEvent[],
): Promise<Set<string>> {
  const byImportId = Map.groupBy(events, ({ id, mid, offset }) => (offset < 0 ? (mid ?? id) : id));
  const keys = items.flatMap((item) => {
    if (item.kind !== "reaction") return [];
    const { mid, sender: uid, reaction } = item;
    return (byImportId.get(mid) ?? []).map(({ cid = "", offset }) => ({ org, cid, offset, uid, reaction }));
  });
  type Found = Row & { id: string; uid: string; reaction: string };
  const found = await rows.find<Found>("message_reaction", ["id", "uid", "reaction"], keys);
  return new Set(found.map(({ id, uid, reaction }) => reactionKeyOf(id, uid, reaction)));
}

/** The ids that a part names. */
function namesIn({ org, items }: ImportPart) {
  const [uids, cids, importIds] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const pairs = new Map<string, Row>();
  const addPair = (cid: string, uid: string) => pairs.set(joinIds(cid, uid), { org, cid, uid });
  for (const item of items) {
    if ("cid" in item && item.cid !== undefined) cids.add(item.cid);
    for (const uid of usersIn(item)) uids.add(uid);
    if (item.kind === "conversation") cids.add(item.id);
    else if (item.kind === "participants") for (const uid of item.uids) addPair(item.cid, uid);
    else if (item.kind === "message") importIds.add(item.importId);
    else if (item.kind === "reaction") importIds.add(item.mid);
    else if (item.kind === "inbox_range" && item.cid !== undefined) addPair(item.cid, item.uid);
  }
  return { uids, cids, pairs, importIds };
}

function usersIn(item: ImportItem): string[] {
  if (item.kind === "system_message") return item.recipients;
  if (item.kind === "user") return [item.id];
  return "uids" in item ? item.uids : "uid" in item ? [item.uid] : [];
}

function toUser({ name, blocked_at, deleted_at, past_start }: UserRow): FoundUser {
  return { name, blockedAt: numberIn(blocked_at), isDeleted: deleted_at !== null, pastStart: numberIn(past_start) };
}

function numberIn(value: number | null): number | null {
  return value === null ? null : Number(value);
}
