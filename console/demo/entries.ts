import type {
  Message,
  MessageAppend,
  MessageDelete,
  MessageEdit,
  SystemMessage,
  SystemMessageDelete,
} from "../../sdk/types.ts";
import { withPiece, withTextOf } from "../../sdk/views/growth.ts";

/** An entry in a user's window. `isCaughtUp` marks what was sent while the user was offline. */
export type Entry =
  | { kind: "message"; key: string; message: Message; isCaughtUp: boolean }
  | { kind: "message_delete"; key: string; message: MessageDelete }
  | { kind: "system_message"; key: string; message: SystemMessage; isCaughtUp: boolean }
  | { kind: "system_message_delete"; key: string; message: SystemMessageDelete };

const maxEntries = 200;

/** Appends a message to the entries. A message that is already there stays in its place, with more text if it was open. */
export function withMessage(entries: Entry[], message: Message, isCaughtUp: boolean): Entry[] {
  const key = `message ${message._id}`;
  if (entries.some((entry) => entry.key === key))
    return entries.map((entry) =>
      entry.kind === "message" && entry.key === key ? { ...entry, message: withTextOf(entry.message, message) } : entry,
    );
  return cut([...entries, { kind: "message", key, message, isCaughtUp }]);
}

/** Changes the text of a message that was edited. */
export function withEdit(entries: Entry[], { id, body, x }: MessageEdit): Entry[] {
  return entries.map((entry) =>
    entry.kind === "message" && entry.message._id === id ? { ...entry, message: { ...entry.message, body, x } } : entry,
  );
}

/** Adds a piece to the text of a message that grows. `undefined` if text before the piece is missing. */
export function withMore(entries: Entry[], piece: MessageAppend): Entry[] | undefined {
  const place = entries.findIndex(({ key }) => key === `message ${piece.id}`);
  const entry = entries[place];
  if (entry?.kind !== "message") return entries;
  const message = withPiece(entry.message, piece);
  return message && entries.with(place, { ...entry, message });
}

/** Replaces messages that were taken back by a line that says so, and removes those that the user has hidden. */
export function withRecall(entries: Entry[], recall: MessageDelete): Entry[] {
  if (recall.type === "myself")
    return entries.filter((entry) => entry.kind !== "message" || !recall.ids.includes(entry.message._id));
  return entries.map((entry) =>
    entry.kind === "message" && recall.ids.includes(entry.message._id)
      ? { kind: "message_delete", key: entry.key, message: recall }
      : entry,
  );
}

/** Appends a system message to the entries. */
export function withSystemMessage(entries: Entry[], message: SystemMessage, isCaughtUp: boolean): Entry[] {
  const key = `system ${message.from} ${message._id}`;
  if (entries.some((entry) => entry.key === key)) return entries;
  return cut([...entries, { kind: "system_message", key, message, isCaughtUp }]);
}

function cut(entries: Entry[]): Entry[] {
  return entries.slice(-maxEntries);
}

/** Replaces system messages that were taken back by a line that says so. */
export function withSystemRecall(entries: Entry[], recall: SystemMessageDelete): Entry[] {
  return entries.map((entry) =>
    entry.kind === "system_message" && entry.message.from === recall.from && recall.ids.includes(entry.message._id)
      ? { kind: "system_message_delete", key: entry.key, message: recall }
      : entry,
  );
}
