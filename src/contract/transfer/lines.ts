import { z } from "zod";
import { entityName } from "../directory.ts";
import { problemSchema } from "../errors/problem.ts";
import { identifier, isoTime, userIds } from "../identifiers.ts";
import type { PayloadLimits } from "../limits.ts";
import { references } from "../messages/events.ts";
import { contentOfMessage, hasContent, referring, silent } from "../messages/messages.ts";
import { reaction } from "../messages/reactions.ts";
import { createInboxLines, exportedInboxLines } from "./inbox-lines.ts";
import { endTime, pastTime } from "./times.ts";

/** The media type of requests and responses with one JSON value on each line. */
export const linesType = "application/x-ndjson";

const importedUser = z.strictObject({
  id: identifier,
  name: entityName,
  blocked: z.boolean().optional().meta({ description: "As in the `PUT` of a user. Exports contain only `true`." }),
});

/** The schemas of the kinds of lines, by the one member that a line has. */
export function createImportLines(limits: PayloadLimits) {
  const conversation = z.strictObject({
    id: identifier,
    name: entityName,
    participants: userIds({ maximum: limits.participants })
      .optional()
      .meta({ description: "Users to add. Those who take part already stay, whoever is named here." }),
  });
  const { shape, meta } = contentOfMessage(limits);
  const message = z
    .strictObject({
      id: identifier.meta({
        description: "Identifies the message in the organization: a line with the same id again changes nothing.",
      }),
      cid: identifier.meta({ description: "The conversation, which must exist." }),
      senderId: identifier.meta({ description: "The author, who need not take part any more, or be a user." }),
      ...shape,
      created_at: pastTime("When it was written (ISO 8601)."),
      silent: silent.meta({ description: "As in a send. Imported messages count as unread nowhere in any case." }),
      expires_at: endTime("When it ends (ISO 8601). One that has ended is not stored."),
      ...referring({
        replied: "The message that it replies to, which need not exist. It is stored as given.",
        forwarded: "The message that it forwards, which need not exist. It is stored as given.",
      }),
    })
    .refine(hasContent.check, hasContent.message)
    .meta(meta);
  return {
    user: z.strictObject({ user: importedUser }).meta({ id: "ImportUserLine" }),
    conversation: z.strictObject({ conversation }).meta({ id: "ImportConversationLine" }),
    participant: z
      .strictObject({
        participant: z.strictObject({
          cid: identifier.meta({ description: "The conversation, which must exist." }),
          uid: identifier.meta({ description: "The user, who is created if necessary." }),
        }),
      })
      .meta({ id: "ImportParticipantLine" }),
    message: z.strictObject({ message }).meta({ id: "ImportMessageLine" }),
    reaction: z
      .strictObject({
        reaction: z.strictObject({
          mid: identifier.meta({
            description: "The `id` of the message. Nothing is done if there is none, or it is gone.",
          }),
          senderId: identifier.meta({ description: "Who reacted, who need not take part any more, or be a user." }),
          reaction: reaction.meta({ description: "The reaction: an emoji, or another short text." }),
        }),
      })
      .meta({ id: "ImportReactionLine" }),
    ...createInboxLines(limits),
  };
}

/** The schemas of the lines, with the limits that they check. */
export type ImportLines = ReturnType<typeof createImportLines>;

/** The schema of any line, for the documents. */
export function importLineOf(lines: ImportLines) {
  return z
    .union([
      lines.user,
      lines.conversation,
      lines.participant,
      lines.message,
      lines.reaction,
      lines.system_message,
      lines.system_message_read,
      lines.inbox_range,
    ])
    .meta({ id: "ImportLine", description: oneLine });
}

const oneLine =
  "One line: a user, a conversation, a participant, a message, a reaction to one, a system message, what a user has done with one, or which of them an inbox has.";
const name = z.string().nullable();

/** The schema of a line of an export, which an import takes. */
export const exportLine = z
  .union([
    z
      .strictObject({ user: z.strictObject({ id: z.string(), name, blocked: z.literal(true).optional() }) })
      .meta({ id: "ExportUserLine" }),
    z
      .strictObject({ conversation: z.strictObject({ id: z.string(), name, participants: z.array(z.string()) }) })
      .meta({ id: "ExportConversationLine" }),
    z.strictObject({ participant: z.strictObject({ cid: z.string(), uid: z.string() }) }).meta({
      id: "ExportParticipantLine",
      description: "A participant beyond those in the line of the conversation.",
    }),
    z
      .strictObject({
        message: z.strictObject({
          id: z.string().meta({ description: "The `_id` or, of an imported message, the id of the import." }),
          cid: z.string(),
          senderId: z.string(),
          body: z.string(),
          x: z.record(z.string(), z.unknown()),
          attachments: z
            .array(z.strictObject({ name: z.string(), file_id: z.string() }))
            .optional()
            .meta({ description: "Absent if there are none." }),
          created_at: isoTime,
          silent: z.literal(true).optional().meta({ description: "Present if it was sent silently." }),
          expires_at: isoTime.optional().meta({ description: "When it ends. Present if it was sent with that time." }),
          ...references,
        }),
      })
      .meta({ id: "ExportMessageLine" }),
    z
      .strictObject({
        reaction: z.strictObject({
          mid: z.string().meta({ description: "The `id` of the message." }),
          senderId: z.string(),
          reaction: z.string(),
        }),
      })
      .meta({ id: "ExportReactionLine" }),
    ...exportedInboxLines,
  ])
  .meta({ id: "ExportLine", description: oneLine });

/** A line of an export. */
export type ExportLine = z.infer<typeof exportLine>;

const count = (description: string) => z.int().min(0).meta({ description });

/** A line of the response to an import: how far it is, a fault, or the end. */
export const importReport = z
  .union([
    z
      .strictObject({
        lines: count("All lines up to this one are stored, or were reported."),
        failed: count("How many of them were not imported."),
      })
      .meta({ id: "ImportProgress", description: "After each thousand lines." }),
    z
      .strictObject({ line: z.int().min(1).meta({ description: "The number of the line." }), problem: problemSchema })
      .meta({ id: "ImportProblem", description: "A line that was not imported. The others are." }),
    z
      .strictObject({
        done: z.boolean().meta({ description: "`false` if the import ended early. Then send all lines again." }),
        lines: count("How many lines were handled."),
        failed: count("How many of them were not imported."),
        problem: problemSchema.optional().meta({ description: "Why the import ended early." }),
      })
      .meta({ id: "ImportEnd", description: "The last line." }),
  ])
  .meta({ id: "ImportReport" });

/** A line of the response to an import. */
export type ImportReport = z.infer<typeof importReport>;
