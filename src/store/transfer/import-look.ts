import { isUuidV7, joinIds } from "../../lib/text/ids.ts";
import { importedKind } from "../log/past.ts";
import type { Row, Rows } from "../sql/driver.ts";
import { createMapping, type Mapped, nullable, number, optional, text } from "../sql/mapping.ts";
import type { ImportedMessage, ImportPart } from "./ports.ts";

/** A stored user; a deleted one has kept its row. */
export type FoundUser = { name: string | null; blockedAt: number | null; isDeleted: boolean };

const conversationMapping = createMapping({
  id: text("id"),
  name: nullable(text("name")),
  participants: number("participants"),
  createdAt: number("created_at"),
  updatedAt: number("updated_at"),
  logStart: number("log_start"),
  /** Its imported messages lie after this offset. */
  pastStart: optional(number("past_start")),
});

/** A stored conversation. */
export type FoundConversation = Omit<Mapped<typeof conversationMapping>, "id">;

/** A stored message, imported or sent. `isChanged`: it was edited or taken back since. */
export type FoundMessage = { id: string; cid: string; offset: number; payload: string; isChanged: boolean };

/** What a part names and is there already. */
export type Found = {
  users: Map<string, FoundUser>;
  conversations: Map<string, FoundConversation>;
  participants: Set<string>;
  imported: Map<string, FoundMessage>;
  sent: Map<string, FoundMessage>;
};

type UserRow = Row & { id: string; name: string | null; blocked_at: number | null; deleted_at: number | null };
type MessageRow = Row & {
  id: string;
  cid: string;
  offset: number;
  payload: string;
  mid: string | null;
  edited_at: number | null;
  recalled_at: number | null;
};

const userColumns = ["id", "name", "blocked_at", "deleted_at"];
const messageColumns = ["id", "cid", "offset", "payload", "mid", "edited_at", "recalled_at"];

/** Reads what a part names. */
export async function lookAt(rows: Pick<Rows, "find">, { org, items }: ImportPart): Promise<Found> {
  const [uids, cids] = [new Set<string>(), new Set<string>()];
  const pairs = new Map<string, Row>();
  const messages: ImportedMessage[] = [];
  for (const item of items) {
    if (item.kind === "user") uids.add(item.id);
    else if (item.kind === "conversation") cids.add(item.id);
    else {
      cids.add(item.cid);
      if (item.kind === "message") messages.push(item);
      else {
        for (const uid of item.uids) {
          uids.add(uid);
          pairs.set(joinIds(item.cid, uid), { org, cid: item.cid, uid });
        }
      }
    }
  }
  const byId = (ids: Iterable<string>) => Array.from(ids, (id) => ({ org, id }));
  const findConversations = async (ids: Iterable<string>) =>
    (await rows.find<Row>("conversation", conversationMapping.names, byId(ids))).map(conversationMapping.read);
  const ids = new Set(messages.map(({ importId }) => importId));
  const importedBefore = Array.from(ids, (mid) => ({ mid, org, kind: importedKind }));
  const sentBefore = [...ids].filter(isUuidV7).map((id) => ({ id, org, kind: "message" }));
  const [users, conversations, participants, imported, sent] = await Promise.all([
    rows.find<UserRow>("user", userColumns, byId(uids)),
    findConversations(cids),
    rows.find<Row & { cid: string; uid: string }>("participant", ["cid", "uid"], [...pairs.values()]),
    rows.find<MessageRow>("event", messageColumns, importedBefore),
    rows.find<MessageRow>("event", messageColumns, sentBefore),
  ]);
  const elsewhere = new Set([...imported, ...sent].map(({ cid }) => cid).filter((cid) => !cids.has(cid)));
  const others = await findConversations(elsewhere);
  return {
    users: new Map(users.map((row) => [row.id, toUser(row)])),
    conversations: new Map([...conversations, ...others].map(({ id, ...found }) => [id, found])),
    participants: new Set(participants.map(({ cid, uid }) => joinIds(cid, uid))),
    imported: new Map(imported.map((row) => [row.mid ?? "", toMessage(row)])),
    sent: new Map(sent.map((row) => [row.id, toMessage(row)])),
  };
}

function toUser({ name, blocked_at, deleted_at }: UserRow): FoundUser {
  return { name, blockedAt: blocked_at === null ? null : Number(blocked_at), isDeleted: deleted_at !== null };
}

function toMessage({ id, cid, offset, payload, edited_at, recalled_at }: MessageRow): FoundMessage {
  return { id, cid, offset: Number(offset), payload, isChanged: edited_at !== null || recalled_at !== null };
}
