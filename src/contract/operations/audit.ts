import { auditPage, auditQuery } from "../audit.ts";
import { auditEntryExample } from "../documents/examples.ts";
import { defineOperation, noParams } from "./operation.ts";

/** The audit log (api.md, section 4). A caller who is bound to an organization sees only entries of that one. */
export const auditOperations = {
  listAudit: defineOperation({
    operationId: "listAudit",
    method: "get",
    path: "/admin/audit",
    tag: "Audit",
    scope: "observe",
    limitsItself: true,
    summary: "Read the audit log, newest first",
    description:
      "Calls that changed something, reads of history, and calls that were refused for lack of rights. Sends are not in it: each event in the log names the key that sent it. A page may hold fewer entries than `limit`; only a `cursor` of `null` is the end.",
    params: noParams,
    query: auditQuery,
    body: undefined,
    answers: {
      200: { description: "A page.", schema: auditPage, example: { items: [auditEntryExample], cursor: null } },
    },
    errors: ["organization_forbidden"],
  }),
};
