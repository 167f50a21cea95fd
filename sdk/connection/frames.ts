import type { Message, MessageDelete, MessageEdit, MessageRead, ResponseError, SystemMessage } from "../types.ts";

/** A frame from the server. */
export type ServerFrame =
  | { kind: "message"; message: Message }
  | { kind: "system_message"; message: SystemMessage }
  | { kind: "message_edit"; edit: MessageEdit }
  | { kind: "message_delete"; recall: MessageDelete }
  | { kind: "message_read"; read: MessageRead }
  | { kind: "response"; id: string | undefined; error: ResponseError | undefined; body: Record<string, unknown> }
  | { kind: "session" }
  | { kind: "unknown" };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isMessage = (value: unknown): value is Message => isSystemMessage(value) && "cid" in value;
const isSystemMessage = (value: unknown): value is SystemMessage =>
  isObject(value) && typeof value._id === "string" && typeof value.from === "string";
const isMessageEdit = (value: unknown): value is MessageEdit =>
  isObject(value) && typeof value.id === "string" && typeof value.body === "string";
const isMessageDelete = (value: unknown): value is MessageDelete =>
  isObject(value) && Array.isArray(value.ids) && value.ids.every((id) => typeof id === "string");
const isMessageRead = (value: unknown): value is MessageRead =>
  isObject(value) && Array.isArray(value.ids) && typeof value.cid === "string" && typeof value.from === "string";

/**
 * Reads one frame. Throws `SyntaxError` if it is not JSON. A frame that this version does not know is `unknown`, so that a newer
 * server does not break an older client.
 */
export function readFrame(text: string): ServerFrame {
  const frame: unknown = JSON.parse(text);
  if (!isObject(frame)) return { kind: "unknown" };
  if (isMessage(frame.message)) return { kind: "message", message: frame.message };
  if (isSystemMessage(frame.system_message)) return { kind: "system_message", message: frame.system_message };
  if (isMessageEdit(frame.message_edit)) return { kind: "message_edit", edit: frame.message_edit };
  if (isMessageDelete(frame.message_delete)) return { kind: "message_delete", recall: frame.message_delete };
  if (isMessageRead(frame.message_read)) return { kind: "message_read", read: frame.message_read };
  if (isObject(frame.session)) return { kind: "session" };
  if (!isObject(frame.response)) return { kind: "unknown" };
  const { id, error, ...body } = frame.response;
  return { kind: "response", id: id === undefined ? undefined : String(id), error: readError(error), body };
}

function readError(error: unknown): ResponseError | undefined {
  if (error === undefined) return undefined;
  const fields = isObject(error) ? error : {};
  return {
    status: typeof fields.status === "number" ? fields.status : 500,
    code: typeof fields.code === "string" ? fields.code : "internal",
    message: typeof fields.message === "string" ? fields.message : "the server refused the request",
  };
}
