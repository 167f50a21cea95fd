import type { Message, SystemMessage } from "../../sdk/types.ts";

/** An entry in a user's window. `isCaughtUp` marks messages that were sent while the user was offline. */
export type Entry =
  | { kind: "message"; key: string; message: Message; isCaughtUp: boolean }
  | { kind: "system_message"; key: string; message: SystemMessage };

const maxEntries = 200;

/** Appends a message to the entries. A message that is already there stays in its place. */
export function withMessage(entries: Entry[], message: Message, isCaughtUp: boolean): Entry[] {
  const key = `message ${message._id}`;
  if (entries.some((entry) => entry.key === key)) return entries;
  return cut([...entries, { kind: "message", key, message, isCaughtUp }]);
}

/** Appends a system message to the entries. */
export function withSystemMessage(entries: Entry[], message: SystemMessage): Entry[] {
  const key = `system ${message.from} ${message._id}`;
  if (entries.some((entry) => entry.key === key)) return entries;
  return cut([...entries, { kind: "system_message", key, message }]);
}

function cut(entries: Entry[]): Entry[] {
  return entries.slice(-maxEntries);
}
