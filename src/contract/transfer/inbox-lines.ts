import { z } from "zod";
import { identifier, isoTime, userIds } from "../identifiers.ts";
import type { PayloadLimits } from "../limits.ts";
import { keptUntil, maxKeepDays } from "../messages/inbox.ts";
import { customParameters, oneAddress, silent } from "../messages/messages.ts";
import { endTime, pastTime, time } from "./times.ts";

/** What identifies a kept system message: a sender may use an id again, once it is forgotten as that of a retry. */
const reference = {
  senderId: identifier.meta({ description: "The sender of the system message." }),
  id: identifier.meta({ description: "Its `id`." }),
  created_at: pastTime("Its `created_at`."),
};

const named = "A system message, as its line names it.";
const ofRange =
  "Of the system messages to everyone, or to a conversation, the user has those after `after`, the last one before the user came, up to `up_to`, the last one before the user left. Without `after`, the user was there before all of them; without `up_to`, the user is still there.";
const ofWhom = {
  uid: identifier.meta({ description: "The user, who must exist." }),
  cid: identifier.optional().meta({
    description: "Of the system messages to this conversation, which must exist. Without it, of those to everyone.",
  }),
};

/** The schemas of the lines about inboxes. */
export function createInboxLines(limits: PayloadLimits) {
  const system_message = z
    .strictObject({
      id: identifier.meta({
        description:
          "What recipients know it by, as `_id`. A line with the same `id`, `senderId` and `created_at` again changes nothing.",
      }),
      senderId: identifier.meta({ description: "The sender, who need not be a user." }),
      uids: userIds({ minimum: 1, maximum: limits.recipients })
        .optional()
        .meta({ description: "It is in the inboxes of these users, who must exist." }),
      cid: identifier.optional().meta({
        description: "It is in the inboxes of all who take part in this conversation by then, which must exist.",
      }),
      everyone: z
        .literal(true, "must be true")
        .optional()
        .meta({ description: "`true`: it is in the inboxes of all who are users by then." }),
      x: customParameters(limits.xBytes).default({}),
      created_at: pastTime("When it was sent (ISO 8601)."),
      kept_until: time.meta({
        type: "string",
        format: "date-time",
        description: `Until when inboxes keep it (ISO 8601), at most ${maxKeepDays} days after it was sent. Of one that is over, only the place and the \`key\` are stored.`,
      }),
      key: identifier.optional().meta({
        description: "Of the system messages of one sender with the same key, an inbox has the last line's only.",
      }),
      silent: silent.meta({ description: "As in a send: it counts as unread nowhere." }),
      expires_at: endTime("When it ends (ISO 8601). One that has ended is stored like one that is over."),
    })
    .superRefine((given, context) => {
      oneAddress.check(given, context);
      const { created_at: from, kept_until: until } = given;
      if (until >= from && until <= keptUntil(from, maxKeepDays)) return;
      const message = `must be at most ${maxKeepDays} days after \`created_at\`, and not before it`;
      context.addIssue({ code: "custom", message, path: ["kept_until"] });
    })
    .meta(oneAddress.meta);
  const system_message_read = z.strictObject({
    uid: ofWhom.uid,
    ...reference,
    seen_at: pastTime("When the user had seen it (ISO 8601)."),
    read_at: pastTime("When the user had read it (ISO 8601); `null` if the user has not.").nullable(),
  });
  const other = z.strictObject(reference).optional().meta({ description: named });
  const inbox_range = z.strictObject({ ...ofWhom, after: other, up_to: other }).meta({ description: ofRange });
  return {
    system_message: z.strictObject({ system_message }).meta({
      id: "ImportSystemMessageLine",
      description: "A system message that inboxes keep.",
    }),
    system_message_read: z.strictObject({ system_message_read }).meta({
      id: "ImportSystemMessageReadLine",
      description:
        "What a user has done with a system message. One that is not there, or has these marks already, stays as it is.",
    }),
    inbox_range: z.strictObject({ inbox_range }).meta({
      id: "ImportInboxRangeLine",
      description: "Which system messages to everyone, or to a conversation, an inbox has, if not all of them.",
    }),
  };
}

const exportedReference = { senderId: z.string(), id: z.string(), created_at: isoTime };
const exportedOther = z.strictObject(exportedReference).optional().meta({ description: named });

/** The schemas of the lines about inboxes in an export. */
export const exportedInboxLines = [
  z
    .strictObject({
      system_message: z.strictObject({
        id: z.string(),
        senderId: z.string(),
        uids: z.array(z.string()).optional().meta({ description: "Those who have it, if it was sent to a list." }),
        cid: z.string().optional().meta({ description: "The conversation that it was sent to." }),
        everyone: z.literal(true).optional().meta({ description: "Present if it was sent to everyone." }),
        x: z.record(z.string(), z.unknown()),
        created_at: isoTime,
        kept_until: isoTime.meta({
          description:
            "Until when inboxes keep it. As `created_at`: it is not kept any more, and contained because of what its `key` has replaced, or because other lines refer to it.",
        }),
        key: z.string().optional().meta({ description: "Present if it was sent with one." }),
        silent: z.literal(true).optional().meta({ description: "Present if it was sent silently." }),
        expires_at: isoTime.optional().meta({ description: "When it ends. Present if it was sent with that time." }),
      }),
    })
    .meta({ id: "ExportSystemMessageLine", description: "A system message that inboxes keep." }),
  z
    .strictObject({
      system_message_read: z.strictObject({
        uid: z.string(),
        ...exportedReference,
        seen_at: isoTime.meta({ description: "When the user had seen it." }),
        read_at: isoTime.nullable().meta({ description: "When the user had read it; `null` if the user has not." }),
      }),
    })
    .meta({ id: "ExportSystemMessageReadLine", description: "What a user has done with a system message." }),
  z
    .strictObject({
      inbox_range: z
        .strictObject({
          uid: z.string(),
          cid: z.string().optional().meta({ description: "Absent: this is about system messages to everyone." }),
          after: exportedOther,
          up_to: exportedOther,
        })
        .meta({ description: ofRange }),
    })
    .meta({
      id: "ExportInboxRangeLine",
      description: "Which system messages to everyone, or to a conversation, the user's inbox has, if not all of them.",
    }),
] as const;
