import { timeOfDay } from "../parts/time.tsx";
import { assistant } from "./assistant.ts";
import { Attachments, type FileAccess } from "./attachments.tsx";
import type { Person } from "./demo.ts";
import type { Entry } from "./entries.ts";

type Props = { entry: Entry; uid: string; people: Person[]; showsJson: boolean; files: FileAccess };

const looks = {
  message: "",
  message_delete: "taken-back",
  system_message: "system",
  system_message_delete: "taken-back",
} as const;

/** One message in readable form and, on request, the received JSON. */
export function EntryRow({ entry, uid, people, showsJson, files }: Props) {
  const { from } = entry.message;
  const isOwn = entry.kind === "message" && from === uid;
  const isOpen = entry.kind === "message" && entry.message.open === true;
  const time = new Date(entry.kind === "message" ? entry.message.created_at : entry.message.t * 1000);
  return (
    <li
      class={`entry ${looks[entry.kind]} ${isOwn ? "own" : ""} ${isOpen ? "open" : ""}`}
      aria-busy={isOpen || undefined}
    >
      <p class="meta">
        {entry.kind === "system_message" && (
          <span class="badge system">
            {entry.message.created_at === undefined ? "system message" : "kept system message"}
          </span>
        )}
        {"isCaughtUp" in entry && entry.isCaughtUp && <span class="badge accent">sent while away</span>}
        <span>{isOwn ? "You" : nameOf(from, people)}</span> <time dateTime={time.toISOString()}>{timeOfDay(time)}</time>
        {isOpen && <span class="badge ok">being written</span>}
      </p>
      {entry.kind === "message_delete" && <p class="body">has taken back this message</p>}
      {entry.kind === "system_message_delete" && <p class="body">has taken back this system message</p>}
      {entry.kind === "system_message" && <p class="body">{JSON.stringify(entry.message.x)}</p>}
      {entry.kind === "message" && (isOpen || entry.message.body !== "") && <p class="body">{entry.message.body}</p>}
      {entry.kind === "message" && <Attachments attachments={entry.message.attachments} {...files} />}
      {showsJson && <pre>{JSON.stringify({ [entry.kind]: entry.message }, undefined, 2)}</pre>}
    </li>
  );
}

/** Who is typing, in place of the message that they type. */
export function TypingRow({ uid, people }: { uid: string; people: Person[] }) {
  return (
    <li class="entry typing">
      <p class="meta">{nameOf(uid, people)} is typing</p>
    </li>
  );
}

function nameOf(uid: string, people: Person[]): string {
  return [...people, assistant].find(({ id }) => id === uid)?.name ?? uid;
}
