import type { Operations } from "../../contract/operations/all.ts";
import type { DryRuns } from "../../services/messages/dry-runs.ts";
import type { Messages } from "../../services/messages/messages.ts";
import type { Reads } from "../../services/messages/reads.ts";
import type { SystemMessages } from "../../services/messages/system-messages.ts";
import { answerWaiting } from "../answers/waiting.ts";
import type { Bind } from "../bind.ts";

type Services = {
  messages: Messages;
  systemMessages: SystemMessages;
  reads: Reads;
  dryRuns: Pick<DryRuns, "message" | "systemMessage" | "read">;
};

/** Binds the operations that send and mark as read, and their dry runs. */
export function bindMessages(bind: Bind, operations: Operations, services: Services): void {
  const { messages, systemMessages, reads, dryRuns } = services;
  bind(operations.sendMessage, async ({ caller, query, body, headers }, call) =>
    query.dry_run
      ? { status: 200, ...(await dryRuns.message(caller, body)) }
      : { status: 201, ...(await answerWaiting(headers, call, (wish) => messages.send(caller, body, wish))) },
  );
  bind(operations.sendSystemMessage, async ({ caller, query, body, headers }, call) =>
    query.dry_run
      ? { status: 200, ...(await dryRuns.systemMessage(caller, body)) }
      : { status: 201, ...(await answerWaiting(headers, call, (wish) => systemMessages.send(caller, body, wish))) },
  );
  bind(operations.markRead, async ({ caller, query, body }) => {
    if (query.dry_run) return { status: 200, ...(await dryRuns.read(caller, body)) };
    await reads.mark(caller, body);
    return { status: 200, body: { success: true } };
  });
}
