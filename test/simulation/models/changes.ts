import type { MembershipChange, SessionEnd } from "../../../src/contract/log/control-events.ts";
import type { LogEvent } from "../../../src/contract/log/log-event.ts";

/** How a system message is kept in inboxes: until when, in milliseconds, and its key, if it has one. */
export type Keeping = { until: number; key?: string | undefined };

/** Whom a system message is addressed to, as in `LogEvent`. */
export type Address = { uids: string[]; cid: string | undefined };

/** What a transaction does to an organization. */
export type Change =
  | { kind: "message"; cid: string; sender: string; bytes: number; expiresAt?: number | undefined }
  | SystemMessage
  | { kind: "read" | "system_read"; uids: string[]; payload: string }
  | { kind: "edit"; cid: string; id: string }
  | { kind: "recall"; cid: string; ids: string[]; hasExpired?: true }
  | SystemRecall
  | { kind: "membership"; cid: string; change: MembershipChange }
  | { kind: "session"; end: SessionEnd };

/** A system message, which inboxes keep with `kept`. */
export type SystemMessage = Address & {
  kind: "system";
  sender: string;
  bytes: number;
  kept?: Keeping | undefined;
  isSilent?: boolean;
  expiresAt?: number | undefined;
};

/**
 * The end of system messages of one sender with one audience, as they are taken back or have expired; `until`: until when inboxes
 * keep it, if they keep one of the messages.
 */
export type SystemRecall = Address & {
  kind: "system_recall";
  sender: string;
  ids: string[];
  until: number | undefined;
  hasExpired?: true;
};

const idInFrame =
  /^\{"(?:(?:system_)?message":\{"_id|(?:message_edit|(?:system_)?message_delete|system_message_read)":\{"event)":"([^"]+)"/;
const longestStart = 72;
const longestTold = 160;

/** The id of the event that a frame tells, for all frames but reads of messages. */
export function idIn(frame: string): string | undefined {
  return idInFrame.exec(frame.slice(0, longestStart))?.[1];
}

/** What a trace says of an event that is committed. */
export function describe({ kind, id, offset, cid, uids, payload }: LogEvent): string {
  const address = uids === undefined ? "" : ` to ${[...uids, cid ?? ""]}`;
  return `${kind} ${id} at ${offset}${address}${kind === "message" ? "" : `: ${payload.slice(0, longestTold)}`}`;
}

/** The ids of the messages that an edit or a recall is about. */
export function aboutOf({ kind, payload }: LogEvent): string[] {
  if (kind === "edit") return [JSON.parse(payload).message_edit.id];
  if (kind === "recall") return JSON.parse(payload).message_delete.ids;
  return kind === "system_recall" ? JSON.parse(payload).system_message_delete.ids : [];
}

/** The ids of the messages that a change is about, whatever is told of it. */
export function textsOf(change: Change | undefined): string[] {
  if (change?.kind === "edit") return [change.id];
  return change?.kind === "recall" || change?.kind === "system_recall" ? change.ids : [];
}

/** Creates the writer of payloads. `_id`s are ids of events. */
export function createPayloads() {
  const fillings = new Map<number, string>(); // large texts are expensive to create

  function fillingOf(bytes: number): string {
    const filling = fillings.get(bytes) ?? "x".repeat(bytes);
    fillings.set(bytes, filling);
    return filling;
  }

  /** The payload of the event with this id that tells the change, at a time. */
  return (id: string, change: Change, at: number): string => {
    switch (change.kind) {
      case "message":
        return messagePayload({ ...change, id, at, body: fillingOf(change.bytes) });
      case "system":
        return systemMessage(id, change, fillingOf(change.bytes));
      case "read":
        return change.payload;
      case "system_read":
        return change.payload.replace('{"system_message_read":{', `{"system_message_read":{"event":"${id}",`);
      case "edit":
        return `{"message_edit":{"event":"${id}","id":"${change.id}"}}`;
      case "recall":
        return JSON.stringify({ message_delete: { event: id, ids: change.ids } });
      case "system_recall":
        return JSON.stringify({ system_message_delete: { event: id, ids: change.ids, from: change.sender, t: 0 } });
      case "membership":
        return JSON.stringify(change.change);
      case "session":
        return JSON.stringify(change.end);
    }
  };
}

/** The payload of a message. */
export function messagePayload({
  id,
  body,
  sender,
  cid,
  at,
}: Record<"id" | "body" | "sender" | "cid", string> & { at: number }) {
  const created = new Date(at).toISOString();
  return `{"message":{"_id":"${id}","body":"${body}","from":"${sender}","cid":"${cid}","attachments":[],"created_at":"${created}"}}`;
}

function systemMessage(id: string, { sender, kept, isSilent = false }: SystemMessage, text: string): string {
  const key = kept?.key === undefined ? "" : `,"key":"${kept.key}"`;
  return `{"system_message":{"_id":"${id}","t":0,"from":"${sender}"${key}${isSilent ? ',"silent":true' : ""},"x":{"text":"${text}"}}}`;
}
