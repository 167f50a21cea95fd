import { canonicalJson, parseJson } from "../../lib/json/json-values.ts";
import { createId, joinIds } from "../../lib/text/ids.ts";
import type { Found, FoundConversation, FoundMessage, FoundUser } from "./import-look.ts";
import { type ImportedMessage, type ImportFault, type ImportItem, type ImportPart, payloadOf } from "./ports.ts";

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
  messages: ImportedMessage[];
  /** The ids of messages that a deleted conversation has left, and that come anew. */
  stale: string[];
};

type Options = {
  /** The offset after which the first new message will lie. */
  pastHead: number;
  /** Gives messages ids of their own, because theirs are taken. */
  givesIds: boolean;
};

/** Decides in the order of the items what a part changes of what is there. */
export function planImport(found: Found, part: ImportPart, options: Options): ImportPlan {
  const { users, conversations, participants } = found;
  const plan: ImportPlan = {
    found,
    faults: [],
    written: 0,
    users: { added: new Set(), revived: new Set(), changed: new Set(), blocked: new Set() },
    conversations: { added: new Set(), changed: new Set() },
    joins: new Map(),
    messages: [],
    stale: [],
  };

  /** Returns whether anything changes. */
  function putUser(id: string, name?: string | null, isBlocked?: boolean): boolean {
    const known = users.get(id);
    const isNew = known === undefined || known.isDeleted;
    const blockedAt = blockOf(known, isBlocked, part.now);
    const user = { name: name ?? (isNew || name === null ? null : known.name), blockedAt, isDeleted: false };
    if (!isNew && user.name === known.name && user.blockedAt === known.blockedAt) return false;
    if (known === undefined) plan.users.added.add(id);
    else if (known.isDeleted) plan.users.revived.add(id);
    else if (!plan.users.added.has(id)) plan.users.changed.add(id);
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
      participants.add(joinIds(cid, uid));
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
    if (there !== undefined) return isSame(there, item) ? false : "conflict";
    if (!part.hasRoom) return "room";
    const isTaken = options.givesIds || known.some((message) => message?.id === item.id);
    const message = isTaken ? { ...item, id: createId(item.createdAt) } : item;
    const [leftOver] = known;
    if (leftOver !== undefined) plan.stale.push(leftOver.id);
    plan.messages.push(message);
    found.imported.set(item.importId, { ...message, offset: 0, payload: payloadOf(message), isChanged: false });
    change(item.cid, afterMessage(conversation, item.createdAt, options.pastHead));
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
    }
  }

  for (const [index, item] of part.items.entries()) {
    const outcome = add(item);
    if (typeof outcome === "string") plan.faults.push([index, outcome]);
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
function afterMessage(conversation: FoundConversation, createdAt: number, pastHead: number): FoundConversation {
  const { pastStart, updatedAt } = conversation;
  const isEmpty = pastStart === undefined && updatedAt === conversation.createdAt;
  return {
    ...conversation,
    pastStart: pastStart ?? pastHead,
    updatedAt: isEmpty ? createdAt : Math.max(updatedAt, createdAt),
  };
}

/** Whether a message can be seen: it may be one of a conversation that was deleted, and maybe created again. */
function isThere({ cid, offset }: FoundMessage, conversations: Found["conversations"]): boolean {
  const conversation = conversations.get(cid);
  if (conversation === undefined) return false;
  if (offset > 0) return offset > conversation.logStart;
  return conversation.pastStart !== undefined && offset > conversation.pastStart;
}

/**
 * Compares the texts, which nearly always suffices, and then the values. A message that was edited or taken back since stays
 * so, whatever it said when it was imported.
 */
function isSame(there: FoundMessage, item: ImportedMessage): boolean {
  if (there.isChanged) return true;
  const wanted = payloadOf({ id: there.id, rest: item.rest });
  if (there.payload === wanted) return true;
  return canonicalJson(parseJson(there.payload)) === canonicalJson(parseJson(wanted));
}
