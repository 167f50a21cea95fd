import type {
  Message,
  MessageAppend,
  MessageDelete,
  MessageEdit,
  MessageReactionsUpdate,
  MessageRead,
  ResponseError,
  SystemMessage,
  SystemMessageDelete,
  SystemMessageRead,
  Typing,
} from "../types.ts";

/** The response to a request. Errors without an id answer frames that the server could not read. */
export type Answer = { id: string | undefined; error: ResponseError | undefined; body: Record<string, unknown> };

/** What the server tells by itself, by the name of the frame's only member. */
export type Events<X> = {
  message: Message<X>;
  system_message: SystemMessage<X>;
  message_edit: MessageEdit<X>;
  message_append: MessageAppend;
  message_delete: MessageDelete;
  system_message_delete: SystemMessageDelete;
  message_read: MessageRead;
  system_message_read: SystemMessageRead;
  message_reactions_update: MessageReactionsUpdate;
  typing: Typing;
  session: object;
  last_activity: Record<string, unknown>;
};

type EventHandlers<X> = { [Name in keyof Events<X>]: (event: Events<X>[Name]) => void };

/** Handlers of what a frame may contain. */
export type Handlers<X> = EventHandlers<X> & { response(answer: Answer): void };

const unsigned: readonly string[] = ["session", "last_activity", "system_message_read", "typing"];
const names = [
  "message",
  "message_edit",
  "message_append",
  "message_delete",
  "message_read",
  "system_message",
  "system_message_delete",
  "session",
  "last_activity",
  "system_message_read",
  "message_reactions_update",
  "typing",
] as const;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Whether a member of a frame has what every event of its name has: an id, or ids, and its author. */
function isEvent<X, Name extends keyof Events<X>>(name: Name, value: unknown): value is Events<X>[Name] {
  if (!isObject(value)) return false;
  const { from, _id, mid = _id, id = mid, ids } = value;
  return unsigned.includes(name) || (!!from && (typeof id === "string" || Array.isArray(ids)));
}

/**
 * Reads one frame and passes it to its handler. Throws `SyntaxError` if it is not JSON. A frame that this version does not know is
 * ignored, so that a newer server does not break an older client.
 */
export function readFrame<X>(text: string, handlers: Handlers<X>): void {
  const frame: unknown = JSON.parse(text);
  if (!isObject(frame)) return;
  const { response } = frame;
  for (const name of names) pass(name, frame[name], handlers);
  if (!isObject(response)) return;
  const { id, error, ...body } = response;
  pass("last_activity", body.last_activity, handlers);
  handlers.response({
    id: id === undefined ? id : String(id),
    error: error === undefined ? error : readError(error),
    body,
  });
}

function pass<X, Name extends keyof Events<X>>(name: Name, event: unknown, handlers: EventHandlers<X>) {
  if (isEvent<X, Name>(name, event)) handlers[name](event);
}

/** Reads the error of a response, or of a problem document (RFC 9457). */
export function readError(error: unknown): ResponseError {
  const { status, code, message, detail } = isObject(error) ? error : {};
  return {
    status: Number(status ?? 500),
    code: String(code ?? "internal"),
    message: String(message ?? detail ?? code),
  };
}
