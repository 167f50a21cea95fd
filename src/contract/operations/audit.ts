import { auditPage, auditQuery } from "../audit.ts";
import { auditEntryExample } from "../documents/examples.ts";
import { defineOperation, pageAnswers } from "./operation.ts";

/** The audit log (api.md, section 4). A key that is bound to an organization sees only that organization's entries. */
export const auditOperations = {
  listAudit: defineOperation({
    method: "get",
    path: "/admin/audit",
    tag: "Audit",
    scope: "observe",
    limitsItself: true,
    summary: "Read the audit log, newest first, or after an entry, oldest first",
    description:
      "Lists calls that changed something, reads of message content, and calls that were refused for lack of rights. Other sends are not included, because each stored message records the key that sent it. A page may hold fewer entries than `limit`; the list ends only when `cursor` is `null`.",
    query: auditQuery,
    answers: pageAnswers(auditPage, [auditEntryExample]),
    errors: ["organization_forbidden", "cursor_too_old"],
  }),
};
