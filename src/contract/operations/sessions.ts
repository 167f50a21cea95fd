import { pageQuery } from "../directory.ts";
import { sessionExample } from "../documents/examples.ts";
import { sessionPage } from "../people/sessions.ts";
import { defineOperation, pageAnswers } from "./operation.ts";

/** The sessions of people who signed in to the console (api.md, section 4.7). */
export const sessionOperations = {
  listSessions: defineOperation({
    method: "get",
    path: "/admin/sessions",
    tag: "Keys",
    scope: "keys:manage",
    summary: "List the sessions of people in the console, by id",
    description: "Oldest first. Sessions that have ended are not included.",
    query: pageQuery,
    answers: pageAnswers(sessionPage, [sessionExample]),
  }),
  endSession: defineOperation({
    method: "delete",
    path: "/admin/sessions/{session_id}",
    tag: "Keys",
    scope: "any",
    limitsItself: true,
    summary: "End the session of a person in the console",
    description:
      "Every node refuses the session from then on. A person may end each of their own sessions. Those of others require the scope `keys:manage`, a key or a role for all organizations, and whatever those sessions may do. Calls in progress are completed.",
    answers: { 204: { description: "Ended." } },
    errors: ["not_found", "storage_full"],
  }),
};
