import type { Message, MessageDelete, MessageEdit, MessageRead, ResponseError, SystemMessage } from "../types.ts";

/** The response to a request. Errors without an id answer frames that the server could not read. */
export type Answer = { id: string | undefined; error: ResponseError | undefined; body: Record<string, unknown> };

/** What the server tells by itself, by the name of the frame's only member. */
export type Events = {
  message: Message;
  system_message: SystemMessage;
  message_edit: MessageEdit;
  message_delete: MessageDelete;
  message_read: MessageRead;
  session: object;
};

type EventHandlers = { [Name in keyof Events]: (event: Events[Name]) => void };

/** Handlers of what a frame may contain. */
export type Handlers = EventHandlers & { response(answer: Answer): void };

const eventNames = ["message", "system_message", "message_edit", "message_delete", "message_read", "session"] as const;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Whether a member of a frame has what every event of its name has. */
function isEvent<Name extends keyof Events>(name: Name, value: unknown): value is Events[Name] {
  if (!isObject(value)) return false;
  const { from, _id, id = _id, ids } = value;
  return name === "session" || (typeof from === "string" && (typeof id === "string" || Array.isArray(ids)));
}

/**
 * Reads one frame and passes it to its handler. Throws `SyntaxError` if it is not JSON. A frame that this version does not know is
 * ignored, so that a newer server does not break an older client.
 */
export function readFrame(text: string, handlers: Handlers): void {
  const frame: unknown = JSON.parse(text);
  if (!isObject(frame)) return;
  for (const name of eventNames) pass(name, frame[name], handlers);
  const { response } = frame;
  if (!isObject(response)) return;
  const { id, error, ...body } = response;
  handlers.response({
    id: id === undefined ? id : String(id),
    error: error === undefined ? error : readError(error),
    body,
  });
}

function pass<Name extends keyof Events>(name: Name, event: unknown, handlers: EventHandlers) {
  if (isEvent(name, event)) handlers[name](event);
}

/** Reads the error of a response, or of a problem document (RFC 9457). */
export function readError(error: unknown): ResponseError {
  const { status, code, message, detail } = isObject(error) ? error : {};
  return {
    status: typeof status === "number" ? status : 500,
    code: typeof code === "string" ? code : "internal",
    message: String(message ?? detail ?? "the server refused the request"),
  };
}
