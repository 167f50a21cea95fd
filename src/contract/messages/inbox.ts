import { z } from "zod";
import { pageOf, pageQuery, queryFlag } from "../directory.ts";
import { createdAt, identifier, identifiers, isoTime } from "../identifiers.ts";
import { systemMessageSchema } from "./events.ts";

const dayMs = 24 * 3600 * 1000;

/** The most days that a system message may be kept. */
export const maxKeepDays = 365;

const keepDaysRule = `must be a whole number from 1 to ${maxKeepDays}`;

const maxMarked = 100;
const maxPage = 100;

/** The most ids that one `system_message_read` names; more are told by several. */
export const maxToldIds = 1_000;

/** The members of a system message that stays in inboxes (api.md, 2.4). */
export const keeping = {
  keep_days: z.int(keepDaysRule).min(1, keepDaysRule).max(maxKeepDays, keepDaysRule).optional().meta({
    description:
      "Keeps it in the inbox of each user it is addressed to for so many days, at most for as long as messages are kept. Without it, users who are offline never receive it.",
  }),
  key: identifier.optional().meta({
    description:
      "Of the kept system messages of one sender with the same key, a user's inbox has the newest only. Needs `keep_days`.",
  }),
};

/** When a system message leaves inboxes, in milliseconds since the Unix epoch. */
export function keptUntil(createdAtMs: number, days: number): number {
  return createdAtMs + days * dayMs;
}

const mark = (what: string) =>
  isoTime.nullable().meta({ description: `When the user had ${what}; \`null\` if the user has not.` });

/** A system message as an inbox shows it: as it was delivered, and what the user has done with it. */
export const inboxItem = systemMessageSchema
  .extend({
    created_at: createdAt,
    seen_at: mark("seen it"),
    read_at: mark("read it"),
  })
  .meta({ id: "InboxItem", description: "A system message in a user's inbox." });

/** A system message as an inbox shows it. */
export type InboxItem = z.infer<typeof inboxItem>;

/** A page of a user's inbox. */
export const inboxPage = pageOf(inboxItem).meta({ id: "InboxPage" });

/** The query of a user's inbox. */
export const inboxQuery = pageQuery.extend({
  unread: queryFlag("`true` shows only what the user has not read."),
});

/** The requests of a user about the own inbox. */
export const inboxRequests = {
  system_message_list: z.strictObject({
    limit: z.int().min(1).max(maxPage).default(50).meta({ description: "The number of items in a page." }),
    before: identifier.optional().meta({ description: "Only system messages older than the one with this `_id`." }),
    unread: z.boolean().optional().meta({ description: "`true` lists only what the user has not read." }),
  }),
  system_message_read: z.strictObject({
    ids: identifiers("system message", maxMarked).optional().meta({
      description:
        "The `_id`s of system messages in the inbox; others are ignored. Without `ids`, all that are there are marked.",
    }),
    seen: z.literal(true, "must be true").optional().meta({
      description: "Marks them as seen only. Without it they are read, and so seen, too.",
    }),
  }),
} as const;

/** The event `system_message_read`: the user has seen or read system messages, on whichever connection. */
export const systemMessageReadEvent = z
  .strictObject({
    system_message_read: z.strictObject({
      ids: z.array(z.string()).meta({
        description: `The \`_id\`s of system messages that are marked now, newest first; at most ${maxToldIds.toLocaleString("en-US")}: more are told by several events.`,
      }),
      seen: z.boolean().meta({ description: "`true` if they are seen only, `false` if they are read." }),
      t: z.int().meta({ description: "When, in Unix epoch seconds." }),
    }),
  })
  .meta({ id: "SystemMessageReadEvent" });

/** A `system_message_read` in its frame. */
export type SystemMessageReadEvent = z.infer<typeof systemMessageReadEvent>;
