import type { Operations } from "../../contract/operations/all.ts";
import { linesType } from "../../contract/transfer/lines.ts";
import type { Exports } from "../../services/transfer/exports.ts";
import type { Imports } from "../../services/transfer/imports.ts";
import { streamOf } from "../answers/text-stream.ts";
import type { Bind } from "../bind.ts";
import { readLines, requireLines } from "../requests/lines.ts";

type Services = { imports: Imports; exports: Exports; limits: { requestBytes: number } };

/** Binds import and export. */
export function bindTransfer(bind: Bind, operations: Operations, { imports, exports, limits }: Services): void {
  bind(operations.importLines, async ({ caller, params: { org }, query, headers }, longCall) => {
    const call = longCall();
    requireLines(headers.get("content-type"));
    const blocks = readLines(call.request.body, limits.requestBytes);
    const report = await imports.open({ caller, org, isDryRun: query.dry_run, blocks }, call);
    return { status: 200, stream: streamOf(report), streamType: linesType, isRecorded: true };
  });
  bind(operations.exportOrganization, async ({ caller, params: { org } }, call) => ({
    status: 200,
    stream: streamOf(await exports.open({ caller, org }, call())),
    streamType: linesType,
  }));
  bind(operations.exportUser, async ({ caller, params: { org, uid } }, call) => ({
    status: 200,
    stream: streamOf(await exports.open({ caller, org, uid }, call())),
    streamType: linesType,
  }));
}
