import type { Operations } from "../../contract/operations/all.ts";
import { waitHeaders, waitSecondsIn } from "../../contract/waits.ts";
import type { WaitWish } from "../../services/delivery/awaited-sends.ts";
import type { DryRuns } from "../../services/messages/dry-runs.ts";
import type { Messages, Sent } from "../../services/messages/messages.ts";
import type { Reads } from "../../services/messages/reads.ts";
import type { SystemMessages } from "../../services/messages/system-messages.ts";
import type { Bind } from "../bind.ts";
import type { LongCall } from "../call/handler.ts";

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

type Waiting<Body> = { body: Body; isReplay: boolean; headers?: Record<string, string>; waitedMs?: number };

/**
 * Sends, and waits for the delivery if the request prefers that (`Prefer: wait=N`). Meanwhile the connection may be
 * idle.
 */
function answerWaiting<Body>(
  headers: Headers,
  call: Pick<LongCall, "request" | "mayIdle">,
  send: (wish?: WaitWish) => Promise<Sent<Body>>,
): Promise<Waiting<Body>> {
  const seconds = waitSecondsIn(headers.get("prefer"));
  if (seconds === undefined) return send();
  return call.mayIdle(seconds, async () => {
    const { body, isReplay, waited } = await send({ seconds, signal: call.request.signal });
    return {
      body,
      isReplay,
      ...(waited && { headers: waitHeaders(waited.seconds, waited.counts), waitedMs: waited.tookMs }),
    };
  });
}
