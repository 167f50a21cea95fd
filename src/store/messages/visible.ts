import { joinIds } from "../../lib/text/ids.ts";
import type { Looking } from "../log/log-writer.ts";
import { isIn, isMessageKind } from "../log/past.ts";
import type { NewSend } from "../ports.ts";
import type { Row } from "../sql/driver.ts";
import { lasting } from "./expiry-rule.ts";

type EventRow = Row & {
  org: string;
  id: string;
  offset: number;
  kind: string;
  cid: string;
  recalled_at: number | null;
  expires_at: number | null;
};
type ConversationRow = Row & { org: string; id: string; log_start: number; past_start: number | null };
type ParticipantRow = Row & { org: string; cid: string; uid: string };

type HiddenRow = Row & { org: string; uid: string; id: string };

const eventColumns = ["org", "id", "offset", "kind", "cid", "recalled_at", "expires_at"];
const conversationColumns = ["org", "id", "log_start", "past_start"];

/** The key of a message that a user sees. */
export function visibleKeyOf(org: string, uid: string, id: string): string {
  return joinIds(org, uid, id);
}

/**
 * Which of the messages that sends name their senders see: they take part in its conversation, and it was neither taken back nor has
 * expired, and they have not hidden it. Asks nothing if none is named.
 */
export async function findVisible(sql: Looking, sends: readonly NewSend[]): Promise<Set<string>> {
  const named = sends.flatMap(({ org, sender, referred = [] }) => referred.map((id) => ({ org, sender, id })));
  if (named.length === 0) return new Set();
  const { rows } = sql;
  const keys = distinctRows(named, ({ org, id }) => ({ id, org }));
  const found = (await lasting(sql, await rows.find<EventRow>("event", eventColumns, keys))).filter(
    ({ kind, recalled_at }) => isMessageKind(kind) && recalled_at === null,
  );
  const messages = new Map(found.map((row) => [joinIds(row.org, row.id), row]));
  const asked = named.flatMap(({ org, sender, id }) => {
    const message = messages.get(joinIds(org, id));
    return message === undefined ? [] : [{ org, uid: sender, message }];
  });
  if (asked.length === 0) return new Set();
  const ofConversations = distinctRows(asked, ({ org, message: { cid } }) => ({ org, id: cid }));
  const ofParticipants = distinctRows(asked, ({ org, uid, message: { cid } }) => ({ org, cid, uid }));
  const places = asked.map(({ org, uid, message }) => ({ org, uid, cid: message.cid, offset: Number(message.offset) }));
  const [conversations, participants, hidden] = await Promise.all([
    rows.find<ConversationRow>("conversation", conversationColumns, ofConversations),
    rows.find<ParticipantRow>("participant", ["org", "cid", "uid"], ofParticipants),
    rows.find<HiddenRow>(
      "hidden_message",
      ["org", "uid", "id"],
      distinctRows(places, (place) => place),
    ),
  ]);
  const conversationOf = new Map(conversations.map((row) => [joinIds(row.org, row.id), row]));
  const taking = new Set(participants.map(({ org, cid, uid }) => joinIds(org, cid, uid)));
  const isHidden = new Set(hidden.map(({ org, uid, id }) => visibleKeyOf(org, uid, id)));
  const visible = asked.filter(({ org, uid, message }) => {
    if (isHidden.has(visibleKeyOf(org, uid, message.id))) return false;
    const conversation = conversationOf.get(joinIds(org, message.cid));
    return conversation !== undefined && isIn(conversation, message) && taking.has(joinIds(org, message.cid, uid));
  });
  return new Set(visible.map(({ org, uid, message }) => visibleKeyOf(org, uid, message.id)));
}

/** A row for each, without duplicates. */
function distinctRows<One, Key extends Row>(ones: readonly One[], rowOf: (one: One) => Key): Key[] {
  return [...new Map(ones.map(rowOf).map((row) => [joinIds(...Object.values(row).map(String)), row])).values()];
}
