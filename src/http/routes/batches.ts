import type { Operations } from "../../contract/operations/all.ts";
import { linesType } from "../../contract/transfer/lines.ts";
import type { Batches } from "../../services/messages/batches.ts";
import { streamOf } from "../answers/text-stream.ts";
import type { Bind } from "../bind.ts";
import { readLines, requireLines } from "../requests/lines.ts";

type Services = { batches: Batches; limits: { requestBytes: number } };

/** Binds the operation that sends line by line. */
export function bindBatches(bind: Bind, operations: Operations, { batches, limits }: Services): void {
  bind(operations.sendBatch, async ({ caller, query, headers }, longCall) => {
    const call = longCall();
    requireLines(headers.get("content-type"));
    const blocks = readLines(call.request.body, limits.requestBytes);
    const wish = { caller, isDryRun: query.dry_run, perSecond: query.rate, blocks };
    return { status: 200, stream: streamOf(batches.open(wish, call)), streamType: linesType, isRecorded: true };
  });
}
