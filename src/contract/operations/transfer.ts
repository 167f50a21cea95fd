import { z } from "zod";
import { queryFlag } from "../directory.ts";
import { messageExample } from "../documents/examples.ts";
import type { PayloadLimits } from "../limits.ts";
import { createImportLines, exportLine, importLineOf, importReport, linesType } from "../transfer/lines.ts";
import { defineOperation } from "./operation.ts";

const importQuery = z.strictObject({
  dry_run: queryFlag("`true` checks the lines and stores nothing. The response is the same."),
});

const lineExample = {
  message: {
    id: "old-4711",
    cid: messageExample.cid,
    senderId: messageExample.from,
    body: messageExample.body,
    x: messageExample.x,
    created_at: messageExample.created_at,
  },
};

/** Import and export (api.md, section 4.2). */
export function createTransferOperations(limits: PayloadLimits) {
  const line = importLineOf(createImportLines(limits));
  const exported = {
    method: "get",
    tag: "Organizations",
    audit: "all",
    answers: {
      200: {
        description: "One line each, sent as fast as the caller reads.",
        contentType: linesType,
        schema: exportLine,
        example: lineExample,
      },
    },
  } as const;
  return {
    importLines: defineOperation({
      method: "post",
      path: "/admin/organizations/{org}/import",
      tag: "Organizations",
      scope: "directory:write",
      summary: "Import users, conversations, participants, messages of the past and inboxes",
      description:
        "Reads one JSON object per line for as long as the caller sends, and answers while it reads. A line adds a user, a conversation, a participant, a message or a system message that inboxes keep, or says what a user has done with one. A bad line fails alone, and the others are imported. Messages are stored in the order of the lines, before all messages that were sent, and are delivered to nobody: `message_list`, the history and inboxes have them, `since` does not. A system message to everyone or to a conversation is for those who are there when its line is read. Participants are added like those of a `PUT`, and connected users hear of it. The same lines again change nothing, so that after a break the caller sends all lines again. Members that a line omits stay as they are, and nothing is removed. A caller that does not read the response stops the import.",
      query: importQuery,
      lines: line,
      bodyExample: lineExample,
      answers: {
        200: {
          description: "A line for each thousand lines, one for each fault, and one at the end.",
          contentType: linesType,
          schema: importReport,
          example: { done: true, lines: 1_000_000, failed: 0 },
        },
      },
      errors: ["organization_not_found", "storage_full"],
    }),
    exportOrganization: defineOperation({
      ...exported,
      path: "/admin/organizations/{org}/export",
      scope: "history:read",
      summary: "Export an organization",
      description:
        "All users, then all conversations with their participants, then all messages and the system messages that inboxes keep, then who has which of these and what was marked, as lines that an import takes. Imported elsewhere, they make the same organization, with the same inboxes; the messages keep their `_id`s unless they are taken there. The messages are those that were stored when the export began. Other system messages, keys, tokens and limits are not contained.",
      errors: ["organization_not_found"],
    }),
    exportUser: defineOperation({
      ...exported,
      path: "/admin/organizations/{org}/users/{uid}/export",
      tag: "Users",
      scope: "history:read",
      summary: "Export what is stored of a user",
      description:
        "The user, the user's conversations without their other participants, the messages that the user wrote, and the user's inbox with what the user has marked, in the lines of an export.",
      errors: ["organization_not_found", "user_not_found"],
    }),
  };
}
