import { z } from "zod";
import { canonicalJson, isObject, objectWith, parseJson } from "../../lib/json/json-values.ts";
import { identifier, identifiers, text, toIso, toSeconds } from "../identifiers.ts";
import type { PayloadLimits } from "../limits.ts";
import type {
  Message,
  MessageDeleteEvent,
  MessageEditEvent,
  MessageEvent,
  SystemMessageDeleteEvent,
  SystemMessageEvent,
} from "./events.ts";
import { customParameters, envelope } from "./messages.ts";

const mostRecalled = 100;

/** The body of `PUT /admin/message` (api.md, 2.2). */
export function createEditMessageRequest(limits: PayloadLimits) {
  const messageEdit = z.strictObject({
    id: identifier.meta({ description: "The `server_mid` of the message." }),
    body: text(0, limits.bodyCharacters).meta({
      description: "The new text. It may be empty only if the message has attachments.",
    }),
    x: customParameters(limits.xBytes).optional().meta({
      description: "The new custom parameters. Omit them to keep those of the message.",
    }),
  });
  return z.strictObject({ ...envelope, messageEdit }).meta({ id: "EditMessageRequest" });
}

/** An edit of a message. */
export type EditMessageRequest = z.output<ReturnType<typeof createEditMessageRequest>>;

/** The body of `DELETE /admin/message` (api.md, 2.2). */
export const recallMessagesRequest = z
  .strictObject({
    ...envelope,
    messageDelete: z.strictObject({
      cid: identifier.meta({ description: "The conversation of the messages." }),
      ids: identifiers("message", mostRecalled).meta({
        description: "The `server_mid`s of the messages. Duplicate ids are ignored.",
      }),
      type: z.enum(["all", "myself"]).meta({
        description:
          "`all` takes the messages back for everyone. `myself` hides them from the lists of `senderId` only.",
      }),
    }),
  })
  .meta({ id: "RecallMessagesRequest" });

/** Messages to take back. */
export type RecallMessagesRequest = z.output<typeof recallMessagesRequest>;

/** The body of `DELETE /admin/message/system` (api.md, 2.4). */
export const recallSystemMessagesRequest = z
  .strictObject({
    ...envelope,
    messageSystemDelete: z.strictObject({
      ids: identifiers("system message", mostRecalled).meta({
        description: "The `ack.mid`s of system messages that `senderId` sent. Duplicate ids are ignored.",
      }),
    }),
  })
  .meta({ id: "RecallSystemMessagesRequest" });

/** System messages to take back. */
export type RecallSystemMessagesRequest = z.output<typeof recallSystemMessagesRequest>;

/** The response to a change of messages. */
export const changeResponse = z.strictObject({ success: z.literal(true) }).meta({ id: "ChangeAnswer" });

/** The response to a change of messages. */
export type ChangeResponse = z.infer<typeof changeResponse>;

/** What an edit sets: the text, and the custom parameters unless they stay. `t` is in Unix epoch seconds. */
export type EditedContent = { body: string; x: Record<string, unknown> | undefined; from: string; t: number };

/**
 * Applies an edit to the stored text of a message: returns the text of the message from then on, and of the event that tells
 * it; `unchanged` if the message already says this, `empty` if it would say nothing, and `unreadable` if the text is not a
 * message.
 */
export function applyEdit(
  payload: string,
  { body, x, from, t }: EditedContent,
): { message: string; event: string } | "unchanged" | "empty" | "unreadable" {
  const message = objectWith(payload, "message")?.message;
  if (!isMessage(message)) return "unreadable";
  if (body === "" && message.attachments.length === 0) return "empty";
  if (body === message.body && (x === undefined || canonicalJson(x) === canonicalJson(message.x))) return "unchanged";
  const edited: Message = { ...message, body, x: x ?? message.x };
  const event: MessageEditEvent = {
    message_edit: { id: edited._id, cid: edited.cid, from, body, x: edited.x, t },
  };
  return { message: JSON.stringify({ message: edited }), event: JSON.stringify(event) };
}

/** The text of the event that tells which messages were taken back. */
export function recallPayload({ ids, cid, from, t }: { ids: string[]; cid: string; from: string; t: number }): string {
  const event: MessageDeleteEvent = { message_delete: { ids, cid, from, type: "all", t } };
  return JSON.stringify(event);
}

/** The text of the event that tells a user's own connections which messages the user has hidden. */
export function hidingPayload({ ids, cid, from, t }: { ids: string[]; cid: string; from: string; t: number }): string {
  const event: MessageDeleteEvent = { message_delete: { ids, cid, from, type: "myself", t } };
  return JSON.stringify(event);
}

/** The text of the event that tells which system messages of a sender were taken back. */
export function systemRecallPayload({ ids, from, t }: { ids: string[]; from: string; t: number }): string {
  const event: SystemMessageDeleteEvent = { system_message_delete: { ids, from, t } };
  return JSON.stringify(event);
}

/** A message, or system message, of which nothing is left but who sent it when. */
export type Blanked = { id: string; at: number; from: string; cid: string | undefined };

/** The text of the event of a message that was recalled, has expired or was erased. `at` is in milliseconds since the Unix epoch. */
export function blankMessagePayload({ id, at, from, cid = "" }: Blanked): string {
  const blank = { _id: id, t: toSeconds(at), from, body: "", cid, x: {}, attachments: [], created_at: toIso(at) };
  const event: MessageEvent = { message: blank };
  return JSON.stringify(event);
}

/** The same for a system message. */
export function blankSystemPayload({ id, at, from, cid }: Blanked): string {
  const event: SystemMessageEvent = {
    system_message: { _id: id, t: toSeconds(at), from, x: {}, ...(cid !== undefined && { cid }) },
  };
  return JSON.stringify(event);
}

/** The text of the event of a message or system message without what it says; `undefined` if it is neither. */
export function blankedPayload(payload: string): string | undefined {
  const event = parseJson(payload);
  if (!isObject(event)) return undefined;
  const { message, system_message: system } = event;
  if (isMessage(message)) {
    const { _id: id, created_at, from, cid } = message;
    return blankMessagePayload({ id, at: Date.parse(created_at), from, cid });
  }
  if (!isSystemMessage(system)) return undefined;
  const { _id: id, t, from, cid } = system;
  return blankSystemPayload({ id, at: t * 1000, from, cid });
}

/** The text of a system message with empty custom parameters; the same text if it is not one. */
export function withoutParameters(payload: string): string {
  const event = objectWith(payload, "system_message");
  if (!isObject(event?.system_message)) return payload;
  return JSON.stringify({ ...event, system_message: { ...event.system_message, x: {} } });
}

function isSystemMessage(value: unknown): value is SystemMessageEvent["system_message"] {
  return isObject(value) && "_id" in value && typeof value.t === "number";
}

/** Checks what an edit reads of a stored message, which Herald wrote. */
function isMessage(value: unknown): value is Message {
  return isObject(value) && "_id" in value && "cid" in value && Array.isArray(value.attachments);
}
