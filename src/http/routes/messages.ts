import type { Operations } from "../../contract/operations/all.ts";
import type { DryRuns } from "../../services/messages/dry-runs.ts";
import type { Messages } from "../../services/messages/messages.ts";
import type { SystemMessages } from "../../services/messages/system-messages.ts";
import type { Bind } from "../bind.ts";

type Services = {
  messages: Messages;
  systemMessages: SystemMessages;
  dryRuns: Pick<DryRuns, "message" | "systemMessage">;
};

/** Binds the two operations that send, and their dry runs. */
export function bindMessages(bind: Bind, operations: Operations, services: Services): void {
  const { messages, systemMessages, dryRuns } = services;
  bind(operations.sendMessage, async ({ caller, query, body }) =>
    query.dry_run
      ? { status: 200, ...(await dryRuns.message(caller, body)) }
      : { status: 201, ...(await messages.send(caller, body)) },
  );
  bind(operations.sendSystemMessage, async ({ caller, query, body }) =>
    query.dry_run
      ? { status: 200, ...(await dryRuns.systemMessage(caller, body)) }
      : { status: 201, ...(await systemMessages.send(caller, body)) },
  );
}
