import { validate } from "../../contract/requests.ts";
import type { ImportLines } from "../../contract/transfer/lines.ts";
import type {
  ImportedRange,
  ImportedRead,
  ImportedRecipients,
  ImportedSystemMessage,
} from "../../store/transfer/ports.ts";
import { keptIdOf } from "../messages/kept-ids.ts";
import { systemPayloadOf } from "../messages/system-event.ts";
import { requirePast } from "./line-times.ts";

type Options = {
  schemas: Pick<ImportLines, "system_message" | "system_message_read" | "inbox_range">;
  /** How many users one item may hold. */
  recipientsOfItem: number;
  /** Milliseconds since the Unix epoch. */
  now(): number;
};

/** What a line says of a system message that it refers to. */
type Reference = { senderId: string; id: string; created_at: number };

/** Creates a reader of the lines about inboxes, of lines for an organization. Its functions throw what is wrong with a line. */
export function createInboxLineReader({ schemas, recipientsOfItem, now }: Options) {
  const eventIdOf = (org: string, { senderId: sender, id: mid, created_at: createdAt }: Reference) =>
    keptIdOf({ org, sender, mid, createdAt });

  return {
    systemMessage(value: unknown, org: string): (ImportedSystemMessage | ImportedRecipients)[] {
      const { system_message: line } = validate(schemas.system_message, value);
      const {
        id: mid,
        senderId: sender,
        uids: given = [],
        cid,
        x,
        created_at: createdAt,
        key,
        silent,
        expires_at: expiresAt,
      } = line;
      requirePast("/system_message/created_at", createdAt, now());
      const isOver = Math.min(line.kept_until, expiresAt ?? line.kept_until) <= now();
      const kept = { until: isOver ? createdAt : line.kept_until, key };
      const of = {
        id: eventIdOf(org, line),
        mid,
        sender,
        isOver,
        kept,
        silent,
        expiresAt: isOver ? undefined : expiresAt,
      };
      const uids = [...new Set(given)];
      const said = { mid, sender, x, cid, createdAt, isKept: true, key, silent, expiresAt };
      const content = { cid, uids, payload: isOver ? "" : systemPayloadOf(said), createdAt };
      const items: (ImportedSystemMessage | ImportedRecipients)[] = [
        { kind: "system_message", ...of, ...content, recipients: uids.slice(0, recipientsOfItem) },
      ];
      for (let from = recipientsOfItem; from < uids.length; from += recipientsOfItem)
        items.push({ kind: "recipients", of, uids: uids.slice(from, from + recipientsOfItem) });
      return items;
    },
    read(value: unknown, org: string): ImportedRead {
      const { system_message_read: line } = validate(schemas.system_message_read, value);
      const { uid, seen_at: seenAt, read_at } = line;
      requirePast("/system_message_read/seen_at", seenAt, now());
      if (read_at !== null) requirePast("/system_message_read/read_at", read_at, now());
      return {
        kind: "system_message_read",
        uid,
        eventId: eventIdOf(org, line),
        seenAt,
        readAt: read_at ?? undefined,
      };
    },
    range(value: unknown, org: string): ImportedRange {
      const { uid, cid, after, up_to: upTo } = validate(schemas.inbox_range, value).inbox_range;
      return {
        kind: "inbox_range",
        uid,
        cid,
        after: after && eventIdOf(org, after),
        upTo: upTo && eventIdOf(org, upTo),
      };
    },
  };
}
