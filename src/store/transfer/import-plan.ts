import { maxReactionsOfMessage, readTotals } from "../../contract/messages/reactions.ts";
import { canonicalJson, parseJson } from "../../lib/json/json-values.ts";
import { createId, joinIds } from "../../lib/text/ids.ts";
import { countReactions, type ReactionRow } from "../messages/reactions.ts";
import type { FoundEvent } from "./import-events.ts";
import { createInboxPlan, type InboxPlan, missingUser } from "./import-inbox-plan.ts";
import { type Found, type FoundConversation, type FoundUser, reactionKeyOf } from "./import-look.ts";
import {
  type ImportedMessage,
  type ImportedReaction,
  type ImportedSystemMessage,
  type ImportFault,
  type ImportItem,
  type ImportPart,
  payloadOf,
} from "./ports.ts";

/** A system message to be stored. Its event is found by its `mid`, unless another one is, or it is over. */
export type NewSystemMessage = ImportedSystemMessage & { isNamed: boolean };

/** What a part changes. The maps of `found` hold the state after it. */
export type ImportPlan = {
  found: Found;
  faults: [index: number, fault: ImportFault][];
  written: number;
  /** Users without a row, users who were deleted, and other users whose name or block changes, by id. */
  users: { added: Set<string>; revived: Set<string>; changed: Set<string>; blocked: Set<string> };
  conversations: { added: Set<string>; changed: Set<string> };
  /** Who joins each conversation. */
  joins: Map<string, string[]>;
  /** The new messages and system messages, in the order of their offsets. */
  past: (ImportedMessage | NewSystemMessage)[];
  /** The ids of events that a deleted conversation has left, and that come anew. */
  stale: string[];
  inboxes: InboxPlan;
  /** New reactions, and what they make of the totals of messages, by offset; those of new messages are stored with them. */
  reactions: Omit<ReactionRow, "org">[];
  totals: Map<number, string | null>;
};

type Options = {
  /** The offset after which the first new message or system message will lie. */
  pastHead: number;
  /** Gives messages ids of their own, because theirs are taken. */
  givesIds: boolean;
};

/** Decides in the order of the items what a part changes of what is there. */
export function planImport(found: Found, part: ImportPart, options: Options): ImportPlan {
  const { users, conversations, participants } = found;
  const inboxes = createInboxPlan({ found, changeUser });
  const plan: ImportPlan = {
    found,
    faults: [],
    written: 0,
    users: { added: new Set(), revived: new Set(), changed: new Set(), blocked: new Set() },
    conversations: { added: new Set(), changed: new Set() },
    joins: new Map(),
    past: [],
    stale: [],
    inboxes: inboxes.plan,
    reactions: [],
    totals: new Map(),
  };

  /** Where those begin who come now, and where the last new message lies. */
  const place = () => options.pastHead + plan.past.length;

  function changeUser(id: string): void {
    if (!plan.users.added.has(id) && !plan.users.revived.has(id)) plan.users.changed.add(id);
  }

  /** Returns whether anything changes. */
  function putUser(id: string, name?: string | null, isBlocked?: boolean): boolean {
    const known = users.get(id);
    const isNew = known === undefined || known.isDeleted;
    const blockedAt = blockOf(known, isBlocked, part.now);
    const pastStart = isNew ? place() : known.pastStart;
    const user = { name: name ?? (isNew || name === null ? null : known.name), blockedAt, isDeleted: false, pastStart };
    if (!isNew && user.name === known.name && user.blockedAt === known.blockedAt) return false;
    if (known === undefined) plan.users.added.add(id);
    else if (known.isDeleted) plan.users.revived.add(id);
    else changeUser(id);
    if (known !== undefined && known.blockedAt === null && blockedAt !== null) plan.users.blocked.add(id);
    users.set(id, user);
    return true;
  }

  function putConversation(id: string, name: string | null | undefined): boolean {
    const known = conversations.get(id);
    if (known === undefined) {
      const times = { createdAt: part.now, updatedAt: part.now };
      // What it lies after is known when it is stored.
      conversations.set(id, { name: name ?? null, participants: 0, ...times, logStart: 0, pastStart: undefined });
      plan.conversations.added.add(id);
      return true;
    }
    if (name === undefined || name === known.name) return false;
    change(id, { ...known, name });
    return true;
  }

  function change(id: string, conversation: FoundConversation): void {
    conversations.set(id, conversation);
    if (!plan.conversations.added.has(id)) plan.conversations.changed.add(id);
  }

  function join(cid: string, uids: string[]): boolean | ImportFault {
    const conversation = conversations.get(cid);
    if (conversation === undefined) return "conversation";
    const fresh = [...new Set(uids)].filter((uid) => !participants.has(joinIds(cid, uid)));
    if (fresh.length === 0) return false;
    const count = conversation.participants + fresh.length;
    if (count > part.maxParticipants) return "participants";
    change(cid, { ...conversation, participants: count });
    for (const uid of fresh) {
      participants.set(joinIds(cid, uid), place());
      putUser(uid);
    }
    const joined = plan.joins.get(cid);
    if (joined === undefined) plan.joins.set(cid, fresh);
    else joined.push(...fresh);
    return true;
  }

  function addMessage(item: ImportedMessage): boolean | ImportFault {
    const conversation = conversations.get(item.cid);
    if (conversation === undefined) return "conversation";
    const known = [found.imported.get(item.importId), found.sent.get(item.importId)];
    const there = known.find((message) => message !== undefined && isThere(message, conversations));
    if (there !== undefined) return isSame(there, payloadOf({ id: there.id, rest: item.rest })) ? false : "conflict";
    if (!part.hasRoom) return "room";
    const isTaken = options.givesIds || known.some((message) => message?.id === item.id);
    const message = isTaken ? { ...item, id: createId(item.createdAt) } : item;
    const [leftOver] = known;
    if (leftOver !== undefined) plan.stale.push(leftOver.id);
    const pastStart = place();
    plan.past.push(message);
    const stored = { id: message.id, mid: item.importId, cid: item.cid, offset: place(), isChanged: false };
    found.imported.set(item.importId, { ...stored, payload: payloadOf(message) });
    change(item.cid, { ...afterMessage(conversation, item.createdAt), pastStart: conversation.pastStart ?? pastStart });
    return true;
  }

  function addReaction({ mid, sender: uid, reaction }: ImportedReaction): boolean | ImportFault {
    const known = [found.imported.get(mid), found.sent.get(mid)];
    const message = known.find((one) => one !== undefined && one.payload !== "" && isThere(one, conversations));
    if (message === undefined) return false;
    const { id, cid = "", offset } = message;
    const key = reactionKeyOf(id, uid, reaction);
    if (found.reactions.has(key)) return false;
    const totals = countReactions(plan.totals.get(offset) ?? message.reactions ?? null, [[reaction, 1]]);
    if (readTotals(totals).size > maxReactionsOfMessage) return "reactions";
    found.reactions.add(key);
    plan.totals.set(offset, totals);
    plan.reactions.push({ id, cid, offset, uid, reaction });
    return true;
  }

  function addSystemMessage(item: ImportedSystemMessage): boolean | ImportFault {
    const { id, mid, cid, sender, isOver, payload } = item;
    const { events, mids, recalled } = found.inboxes;
    const conversation = cid === undefined ? undefined : conversations.get(cid);
    if (cid !== undefined && conversation === undefined) return "conversation";
    const fault = missingUser(found, item.recipients);
    if (fault !== undefined) return fault;
    if (isOver && recalled.has(mid)) return false;
    const known = events.get(id);
    if (known !== undefined && isThere(known, conversations)) {
      if (!isOver && !isSame(known, payload)) return "conflict";
      return inboxes.recipients({ kind: "recipients", of: item, uids: item.recipients });
    }
    if (!part.hasRoom) return "room";
    if (known !== undefined) plan.stale.push(id);
    const isNamed = !isOver && (known?.mid === mid || !mids.has(joinIds(sender, mid)));
    const pastStart = place();
    plan.past.push({ ...item, isNamed });
    if (isNamed) mids.add(joinIds(sender, mid));
    events.set(id, { id, mid, cid, offset: place(), payload, isChanged: isOver });
    if (cid !== undefined && conversation !== undefined && conversation.pastStart === undefined)
      change(cid, { ...conversation, pastStart });
    return true;
  }

  function add(item: ImportItem): boolean | ImportFault {
    switch (item.kind) {
      case "user":
        return putUser(item.id, item.name, item.isBlocked);
      case "conversation":
        return putConversation(item.id, item.name);
      case "participants":
        return join(item.cid, item.uids);
      case "message":
        return addMessage(item);
      case "reaction":
        return addReaction(item);
      case "system_message":
        return addSystemMessage(item);
      case "recipients":
        return inboxes.recipients(item);
      case "system_message_read":
        return inboxes.read(item);
      case "inbox_range":
        return inboxes.range(item);
    }
  }

  for (const [index, item] of part.items.entries()) {
    const outcome = add(item);
    if (typeof outcome !== "boolean") plan.faults.push([index, outcome]);
    else if (outcome) plan.written++;
  }
  return plan;
}

function blockOf(known: FoundUser | undefined, isBlocked: boolean | undefined, now: number): number | null {
  const before = known?.blockedAt ?? null;
  if (isBlocked === undefined) return before;
  return isBlocked ? (before ?? now) : null;
}

/**
 * A conversation's last message may be one of the past, unless it has others: until its first message, the time of its
 * creation stands in for one.
 */
function afterMessage(conversation: FoundConversation, createdAt: number): FoundConversation {
  const { updatedAt } = conversation;
  const isEmpty = updatedAt === conversation.createdAt;
  return { ...conversation, updatedAt: isEmpty ? createdAt : Math.max(updatedAt, createdAt) };
}

/** Whether an event can be seen: it may be one of a conversation that was deleted, and maybe created again. */
function isThere({ cid, offset }: FoundEvent, conversations: Found["conversations"]): boolean {
  if (cid === undefined) return true;
  const conversation = conversations.get(cid);
  if (conversation === undefined) return false;
  if (offset > 0) return offset > conversation.logStart;
  return conversation.pastStart !== undefined && offset > conversation.pastStart;
}

/**
 * Compares the texts, which nearly always suffices, and then the values. A message that was edited or taken back since stays
 * so, whatever it said when it was imported.
 */
function isSame(there: FoundEvent, wanted: string): boolean {
  if (there.isChanged) return true;
  if (there.payload === wanted) return true;
  return canonicalJson(parseJson(there.payload)) === canonicalJson(parseJson(wanted));
}
