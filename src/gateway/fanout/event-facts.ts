import type { MembershipChange, SessionEnd } from "../../contract/log/control-events.ts";
import { addressOf, type LogEvent } from "../../contract/log/log-event.ts";
import type { SystemMessageDeleteEvent, SystemMessageEvent } from "../../contract/messages/events.ts";
import type { MessageReadEvent } from "../../contract/messages/reads.ts";
import { createLastMade } from "../../lib/caches/last-made.ts";
import { isObject, isTexts, objectWith, parseJson } from "../../lib/json/json-values.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { Connection } from "../connections/connection.ts";
import { pieceIn, type ToldPiece } from "./piece-runs.ts";

/** The users added to and removed from a conversation. */
export type Membership = { readonly added: ReadonlySet<string>; readonly removed: ReadonlySet<string> };

/** The sender of a system message, or of system messages that are recalled, and its recipients if it names them. */
export type SystemFacts = { readonly sender: string; readonly recipients: ReadonlySet<string> };

/** Who has read whose messages, and in which conversation. */
export type ReadFacts = { readonly reader: string; readonly author: string; readonly cid: string };

/** An event as streams receive it. */
export type HeardEvent = Pick<LogEvent, "kind" | "id" | "payload" | "expiresAt">;

// Many connections join at about the same place of a log, and each must follow the same few changes.
const mostNames = 200_000;

type Read = { membership: Membership; names: number };

/**
 * Creates an empty cache: keeps the changes parsed last, up to 200,000 names, the last system message and read, and the texts
 * of the last recall.
 */
export function createEventFacts() {
  const memberships = new Map<string, Read>(); // by event id, oldest first
  let names = 0;
  const systems = createLastMade(({ payload, uids }: LogEvent): SystemFacts => {
    const event: SystemMessageEvent | SystemMessageDeleteEvent = JSON.parse(payload);
    const { from: sender } = "system_message" in event ? event.system_message : event.system_message_delete;
    return { sender, recipients: new Set(uids) };
  });
  const reads = createLastMade(({ payload, uids }: LogEvent): ReadFacts => {
    const { message_read: told }: MessageReadEvent = JSON.parse(payload);
    return { reader: told.from, author: uids?.[0] ?? "", cid: told.cid };
  });
  const recalls = createLastMade((event: LogEvent): ReadonlySet<string> => {
    const texts = recalledIn(event);
    if (texts === undefined) throw new TypeError("the payload is no recall of messages");
    return texts;
  });

  function readMembership({ id, payload }: LogEvent): Membership {
    const change = parseJson(payload);
    if (!isMembershipChange(change)) throw new TypeError("the payload is not a membership change");
    const read = {
      membership: { added: new Set(change.added), removed: new Set(change.removed) },
      names: 1 + change.added.length + change.removed.length,
    };
    memberships.set(id, read);
    names += read.names;
    for (const [oldest, one] of memberships) {
      if (names <= mostNames || oldest === id) break;
      memberships.delete(oldest);
      names -= one.names;
    }
    return read.membership;
  }

  function membershipOf(event: LogEvent): Membership {
    return memberships.get(event.id)?.membership ?? readMembership(event);
  }

  return {
    /** The change that a membership event makes; throws if the payload is not one. */
    membershipOf,
    /** Adds the conversation of a membership event to `cids`, or removes it, if the event names this user. */
    follow(event: LogEvent, uid: string, cids: Set<string>): void {
      // If the name does not appear in the text, the event cannot name the user, and need not be parsed.
      if (!memberships.has(event.id) && !event.payload.includes(JSON.stringify(uid))) return;
      const { cid = "" } = event;
      const { added, removed } = membershipOf(event);
      if (added.has(uid)) cids.add(cid);
      if (removed.has(uid)) cids.delete(cid);
    },
    /** The sender and recipients of a system event, or of a recall of such. */
    systemOf: systems.of,
    readOf: reads.of,
    /** The texts that are recalled, as `textIn` names them; throws if the payload names none. */
    recalledBy: recalls.of,
  };
}

/** The parsed payloads of events, each parsed once for all who need it while the event is played. */
export type EventFacts = ReturnType<typeof createEventFacts>;

/** The sessions that a session event ends; throws if its payload is invalid. */
export function sessionEndOf({ payload }: LogEvent): SessionEnd {
  const end = parseJson(payload);
  if (!isSessionEnd(end)) throw new TypeError("the payload is no end of sessions");
  return end;
}

/** Whether a forced sign-out applies to this connection. */
export function endsSession(end: SessionEnd, connection: Pick<Connection, "uid" | "issuedAt" | "tokenId">): boolean {
  if (end.token !== undefined) return end.token === connection.tokenId && end.uids?.includes(connection.uid) === true;
  if (connection.issuedAt > end.issuedBefore) return false;
  return end.uids === undefined || end.uids.includes(connection.uid);
}

/** Whether a system message is addressed to a user of the conversations `cids`; `isNamed` tells whether it names the user. */
export function isAddressed(event: LogEvent, cids: ReadonlySet<string>, isNamed: () => boolean): boolean {
  switch (addressOf(event)) {
    case "users":
      return isNamed();
    case "conversation":
      return cids.has(event.cid ?? "");
    case "everyone":
      return true;
  }
}

/**
 * The name of the text that an event carries, by which a recall finds it: of a message, its edits and pieces, the id of the message; of a
 * system message, what its sender and its `_id` make.
 */
export function textIn({ kind, id, payload }: HeardEvent): string | undefined {
  if (kind === "message") return id;
  if (kind === "system") return systemTextIn(payload);
  if (kind === "append") return pieceIn({ kind, payload })?.id;
  if (kind !== "edit") return undefined;
  const told = objectWith(payload, "message_edit")?.message_edit;
  return isObject(told) && typeof told.id === "string" ? told.id : undefined;
}

/** What a frame holds: the name of its text (`textIn`), if it has one, when that expires, if it does, and the piece that it is, if it is one. */
export type FrameContent = Pick<LogEvent, "expiresAt"> & { text: string | undefined; piece?: ToldPiece | undefined };

/** What the frame of an event holds. */
export function contentOf(event: HeardEvent): FrameContent {
  const { expiresAt } = event;
  if (event.kind !== "append") return { text: textIn(event), expiresAt };
  const piece = pieceIn(event);
  return { text: piece?.id, expiresAt, piece };
}

/** The names of the texts that a recall takes back; `undefined` if its payload names none, or it is no recall. */
export function recalledIn({ kind, payload }: Pick<HeardEvent, "kind" | "payload">): ReadonlySet<string> | undefined {
  if (kind === "recall") {
    const recall = objectWith(payload, "message_delete")?.message_delete;
    return isObject(recall) && isTexts(recall.ids) ? new Set(recall.ids) : undefined;
  }
  if (kind !== "system_recall") return undefined;
  const recall = objectWith(payload, "system_message_delete")?.system_message_delete;
  if (!isObject(recall) || !isTexts(recall.ids)) return undefined;
  const { from } = recall;
  return typeof from === "string" ? new Set(recall.ids.map((id) => systemText(from, id))) : undefined;
}

// Herald writes these members first. They suffice, and parameters of 32 KiB need not be parsed for each event of a ring.
const beginning = /^\{"system_message":\{"_id":("(?:[^"\\]|\\.)*"),"t":\d+,"from":("(?:[^"\\]|\\.)*")/;

function systemTextIn(payload: string): string | undefined {
  const [, id, from] = beginning.exec(payload) ?? [];
  return id === undefined || from === undefined ? undefined : systemText(JSON.parse(from), JSON.parse(id));
}

const systemText = (sender: string, id: string) => joinIds("system", sender, id);

function isMembershipChange(value: unknown): value is MembershipChange {
  return isObject(value) && isTexts(value.added) && isTexts(value.removed);
}

function isSessionEnd(value: unknown): value is SessionEnd {
  if (!isObject(value) || typeof value.issuedBefore !== "number") return false;
  const { uids, token } = value;
  return (uids === undefined || isTexts(uids)) && (token === undefined || typeof token === "string");
}
