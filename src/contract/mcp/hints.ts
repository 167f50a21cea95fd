import type { Operations } from "../operations/all.ts";
import type { Operation } from "../operations/operation.ts";

/** What a client may assume of a tool when it decides whether to ask a person first (MCP, `ToolAnnotations`). */
export type Hints = {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
};

/** What the method of an operation does not tell. */
const exceptions: { [Name in keyof Operations]?: Partial<Hints> } = {
  listOnlineUsers: { readOnlyHint: true, idempotentHint: true },
  putParticipant: { destructiveHint: false },
  markRead: { destructiveHint: false },
  rotateKey: { destructiveHint: true }, // the old secret ends
  rotateWebhook: { destructiveHint: true },
};

/** The hints for an operation. What goes to people, or to other servers, is of the open world. */
export function hintsOf({ operationId, method, tag }: Operation): Hints {
  const readOnlyHint = method === "get";
  return {
    readOnlyHint,
    destructiveHint: method === "put" || method === "delete",
    idempotentHint: method !== "post",
    openWorldHint: !readOnlyHint && (tag === "Messages" || tag === "Webhooks"),
    ...Object.entries(exceptions).find(([name]) => name === operationId)?.[1],
  };
}
