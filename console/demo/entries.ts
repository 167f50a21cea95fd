import type { Message, SystemMessage } from "../../sdk/types.ts";

/** What a person's window shows, one below the other. `isCaughtUp`: it was sent while the person was away. */
export type Entry =
  | { kind: "message"; key: string; message: Message; isCaughtUp: boolean }
  | { kind: "system_message"; key: string; message: SystemMessage };

const maxEntries = 200;

/** The entries with a message at the end. One that is there already stays where it is. */
export function withMessage(entries: Entry[], message: Message, isCaughtUp: boolean): Entry[] {
  const key = `message ${message._id}`;
  if (entries.some((entry) => entry.key === key)) return entries;
  return cut([...entries, { kind: "message", key, message, isCaughtUp }]);
}

/** The entries with a system message at the end. */
export function withSystemMessage(entries: Entry[], message: SystemMessage): Entry[] {
  const key = `system ${message.from} ${message._id}`;
  if (entries.some((entry) => entry.key === key)) return entries;
  return cut([...entries, { kind: "system_message", key, message }]);
}

function cut(entries: Entry[]): Entry[] {
  return entries.slice(-maxEntries);
}
