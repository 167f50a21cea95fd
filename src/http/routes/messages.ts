import type { Operations } from "../../contract/operations/all.ts";
import type { Messages, Sent } from "../../services/messages.ts";
import type { SystemMessages } from "../../services/system-messages.ts";
import type { Answer, Bind } from "../bind.ts";

/** The two operations that send. */
export function bindMessages(
  bind: Bind,
  operations: Operations,
  services: { messages: Messages; systemMessages: SystemMessages },
): void {
  bind(operations.sendMessage, async ({ caller, body }) => toAnswer(await services.messages.send(caller, body)));
  bind(operations.sendSystemMessage, async ({ caller, body }) =>
    toAnswer(await services.systemMessages.send(caller, body)),
  );
}

function toAnswer({ answer, isReplay }: Sent<unknown>): Answer {
  return { status: 201, body: answer, ...(isReplay && { headers: { "Idempotent-Replayed": "true" } }) };
}
