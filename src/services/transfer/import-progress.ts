import type { HeraldError } from "../../contract/errors/errors.ts";
import { type ProblemForm, problemDocument } from "../../contract/errors/problem.ts";
import type { ImportReport } from "../../contract/transfer/lines.ts";

/** A line that was not imported. */
export type LineFault = { line: number; error: HeraldError };

/** How far an import is, and the report of it. */
export type ImportProgress = ReturnType<typeof createImportProgress>;

const every = 1_000;

/** Creates the progress of an import. */
export function createImportProgress(requestId: string, problemForm?: ProblemForm) {
  let lines = 0;
  let failed = 0;
  let lastFailed = 0;
  let text = "";

  function tell(report: ImportReport): void {
    text += `${JSON.stringify(report)}\n`;
  }

  function advance(to: number): void {
    for (let next = (Math.floor(lines / every) + 1) * every; next <= to; next += every) tell({ lines: next, failed });
    lines = Math.max(lines, to);
  }

  /** Takes what there is to report since the last call: whole lines, or nothing. */
  function take(): string {
    const taken = text;
    text = "";
    return taken;
  }

  return {
    /** All lines up to `last` are stored, but for these. Call it in the order of the lines. */
    reach(last: number, faults: LineFault[]): void {
      for (const { line, error } of faults.toSorted((left, right) => left.line - right.line)) {
        if (line === lastFailed) continue; // a long line is stored in parts, and may fail in each
        advance(line - 1);
        lastFailed = line;
        failed++;
        tell({ line, problem: problemDocument(error, requestId, problemForm) });
      }
      advance(last);
    },
    take,
    /** Takes the end of the report; `error` is why the import ends early. */
    end(error?: HeraldError): string {
      const problem = error && problemDocument(error, requestId, problemForm);
      tell({ done: error === undefined, lines, failed, ...(problem !== undefined && { problem }) });
      return take();
    },
    get lines() {
      return lines;
    },
    get failed() {
      return failed;
    },
  };
}
