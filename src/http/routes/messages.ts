import type { Operations } from "../../contract/operations/all.ts";
import { linesType } from "../../contract/transfer/lines.ts";
import { waitHeaders, waitSecondsIn } from "../../contract/waits.ts";
import type { WaitWish } from "../../services/delivery/awaited-sends.ts";
import type { AppendStreams } from "../../services/messages/append-stream.ts";
import type { Appends } from "../../services/messages/appends.ts";
import type { Batches } from "../../services/messages/batches.ts";
import type { Changes } from "../../services/messages/changes.ts";
import type { DryRuns } from "../../services/messages/dry-runs.ts";
import type { Messages, Sent } from "../../services/messages/messages.ts";
import type { Reads } from "../../services/messages/reads.ts";
import type { TypingCalls } from "../../services/messages/typing.ts";
import { streamOf } from "../answers/text-stream.ts";
import type { Bind } from "../bind.ts";
import type { Answer } from "../call/answer.ts";
import type { LongCall } from "../call/long-call.ts";
import { readLines, requireLines } from "../requests/lines.ts";

type Services = {
  messages: Messages;
  changes: Changes;
  appends: Appends;
  appendStreams: AppendStreams;
  reads: Reads;
  typingCalls: Pick<TypingCalls, "tell">;
  dryRuns: DryRuns;
  batches: Batches;
  limits: { requestBytes: number };
};

/** Binds the operations that send, one or line by line, change messages and mark as read, and their dry runs. */
export function bindMessages(bind: Bind, operations: Operations, services: Services): void {
  const { messages, changes, appends, appendStreams, reads, typingCalls, dryRuns, batches, limits } = services;
  bind(operations.sendMessage, ({ caller, query, body, headers }, call) =>
    query.dry_run
      ? answerTrial(dryRuns.message(caller, body))
      : answerSend(headers, call, (wish) => messages.send(caller, body, wish)),
  );
  bind(operations.sendSystemMessage, ({ caller, query, body, headers }, call) =>
    query.dry_run
      ? answerTrial(dryRuns.systemMessage(caller, body))
      : answerSend(headers, call, (wish) => messages.sendSystem(caller, body, wish)),
  );
  bind(operations.sendBatch, async ({ caller, query, headers }, longCall) => {
    const call = longCall();
    requireLines(headers.get("content-type"));
    const blocks = readLines(call.request.body, limits.requestBytes);
    const wish = { caller, isDryRun: query.dry_run, perSecond: query.rate, blocks };
    return { status: 200, stream: streamOf(batches.open(wish, call)), streamType: linesType, isRecorded: true };
  });
  bind(operations.editMessage, async ({ caller, query, body }) => ({
    status: 200,
    ...(query.dry_run ? await dryRuns.edit(caller, body) : await changes.edit(caller, body)),
  }));
  bind(operations.appendToMessage, async ({ caller, body, headers }, longCall) => {
    if (body !== undefined) return { status: 200, ...(await appends.append(caller, body)) };
    const call = longCall();
    requireLines(headers.get("content-type"));
    const answers = await appendStreams.open(caller, readLines(call.request.body, limits.requestBytes), call);
    return { status: 200, stream: streamOf(answers), streamType: linesType };
  });
  bind(operations.updateReactions, async ({ caller, query, body }) => ({
    status: 200,
    ...(query.dry_run ? await dryRuns.react(caller, body) : await changes.react(caller, body)),
  }));
  bind(operations.recallMessages, async ({ caller, query, body }) => ({
    status: 200,
    ...(query.dry_run ? await dryRuns.recall(caller, body) : await changes.recall(caller, body)),
  }));
  bind(operations.recallSystemMessages, async ({ caller, query, body }) => ({
    status: 200,
    ...(query.dry_run ? await dryRuns.recallSystem(caller, body) : await changes.recallSystem(caller, body)),
  }));
  bind(operations.markRead, async ({ caller, query, body }) => {
    if (query.dry_run) return await answerTrial(dryRuns.read(caller, body));
    await reads.mark(caller, body);
    return { status: 200, body: { success: true } };
  });
  bind(operations.tellTyping, async ({ caller, body }) => ({
    status: 202,
    body: await typingCalls.tell(caller, body),
  }));
}

async function answerTrial(trial: Promise<Sent<unknown>>): Promise<Answer> {
  const { body, isReplay } = await trial;
  return { status: 200, body, isReplay };
}

/**
 * Sends, and waits for the delivery if the request prefers that (`Prefer: wait=N`). Meanwhile the connection may be
 * idle.
 */
async function answerSend(
  headers: Headers,
  call: () => LongCall,
  send: (wish?: WaitWish) => Promise<Sent<unknown>>,
): Promise<Answer> {
  const prefer = headers.get("prefer");
  const seconds = prefer === null ? undefined : waitSecondsIn(prefer);
  if (seconds === undefined) return stored(await send());
  const { mayIdle, request } = call();
  const sent = await mayIdle(seconds, () => send({ seconds, signal: request.signal }));
  if (sent.waited === undefined) return stored(sent);
  const { counts, tookMs } = sent.waited;
  return { ...stored(sent), headers: waitHeaders(sent.waited.seconds, counts), waitedMs: tookMs };
}

function stored({ body, isReplay }: Sent<unknown>): Answer {
  return { status: 201, body, isReplay };
}
