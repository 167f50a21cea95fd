import type { Command } from "commander";
import { HeraldApiError, type ImportReport } from "../../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { onInterrupt } from "../../signals.ts";
import { openLineFile } from "./line-file.ts";

type ImportCommandOptions = ClientOptions & { org: string; dryRun?: true; json?: true };

const examples = `
Examples:
  herald import users.ndjson --org demo
  herald import - --org demo < history.ndjson
  herald import users.ndjson --org demo --dry-run

Each line is a user, a conversation, a participant or a message (see docs/how-to/move-in.md). After a break, run the command again:
what is there already is skipped. The exit code is 1 if a line failed.`;

/** `herald import`. Lines that fail go to stdout, progress to stderr. */
export function addImportCommand(program: Command, output: Output): void {
  const command = program
    .command("import <file>")
    .description(
      "import users, conversations, participants, messages of the past and inboxes, one JSON object per line",
    )
    .requiredOption("--org <id>", "organization to import into, which must exist")
    .option("--dry-run", "check the lines, and store nothing")
    .option("--json", "print the server's report as it comes, one JSON object per line");
  addClientOptions(command)
    .addHelpText("after", examples)
    .action((file: string, options: ImportCommandOptions) => importFile(file, options, output));
}

async function importFile(file: string, { org, dryRun, json, ...access }: ImportCommandOptions, output: Output) {
  const { bytes, progress } = openLineFile(file);
  const admin = accessServer(access).admin();
  const interrupted = new AbortController();
  const endInterrupts = onInterrupt(() => interrupted.abort());
  let reached = 0;

  function show(report: ImportReport): void {
    if (json) output.json(report);
    if ("lines" in report) {
      reached = report.lines;
      progress.reach(report.lines);
    }
    if ("line" in report && !json) {
      progress.clear();
      const { code, detail } = report.problem;
      output.result(printableLine(`line ${report.line}: ${code}: ${detail}`));
    }
    if ("done" in report) end(report);
  }

  function end({ done, lines, failed, problem }: Extract<ImportReport, { done: boolean }>): void {
    progress.clear();
    if (!done) throw new CliError(exitCodes.failed, againAfter(lines, problem?.detail ?? "the import ended early"));
    const what = dryRun ? "checked" : "imported";
    if (!json) output.note(`${what} ${lines - failed} of ${lines} lines${progress.summary()}`);
    if (failed > 0)
      throw new CliError(exitCodes.failed, `${failed} of ${lines} lines failed; the others were ${what}.`);
  }

  try {
    for await (const report of admin.importLines(org, bytes, { dryRun, signal: interrupted.signal })) show(report);
  } catch (error) {
    if (interrupted.signal.aborted) throw new CliError(exitCodes.failed, againAfter(reached, "interrupted"));
    const isBroken = error instanceof HeraldApiError && error.status === 0 && reached > 0;
    throw isBroken ? new CliError(exitCodes.unreachable, againAfter(reached, error.detail)) : error;
  } finally {
    progress.clear();
    endInterrupts();
  }
}

function againAfter(lines: number, why: string): string {
  return `${printableLine(why)}\nThe first ${lines} lines are stored. Run the same command again: what is there already is skipped.`;
}
