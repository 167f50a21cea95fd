import type { Command } from "commander";
import { type BatchAnswer, HeraldApiError } from "../../../../sdk/admin.ts";
import { parsePositive } from "../../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { onInterrupt } from "../../signals.ts";
import { openLineFile } from "../transfer/line-file.ts";

type BatchCommandOptions = ClientOptions & { rate?: number; dryRun?: true; json?: true };

const examples = `
Examples:
  herald batch parcels.ndjson
  herald batch parcels.ndjson --rate 500
  herald batch - --dry-run < parcels.ndjson

Each line is the body of a message or a system message (see docs/how-to/send-many.md). Give each an id: after a break, run the command
again, and nothing is sent twice. The exit code is 1 if a line failed.`;

/** `herald batch`. Lines that fail go to stdout, progress to stderr. */
export function addBatchCommand(program: Command, output: Output): void {
  const command = program
    .command("batch")
    .description("send many messages and system messages, one JSON object per line")
    .argument("<file>", "file of lines; - reads them from standard input")
    .option("--rate <count>", "send at most so many a second", parsePositive)
    .option("--dry-run", "check the lines, and store and send nothing")
    .option("--json", "print the server's answers as they come, one JSON object per line");
  addClientOptions(command)
    .addHelpText("after", examples)
    .action((file: string, options: BatchCommandOptions) => sendFile(file, options, output));
}

async function sendFile(file: string, { rate, dryRun, json, ...access }: BatchCommandOptions, output: Output) {
  const { bytes, progress } = openLineFile(file);
  const admin = accessServer(access).admin();
  const interrupted = new AbortController();
  const endInterrupts = onInterrupt(() => interrupted.abort());
  const counts = { answered: 0, failed: 0, replayed: 0, last: 0 };

  function show(answer: BatchAnswer): void {
    if (json) output.json(answer);
    counts.answered++;
    counts.last = answer.line;
    progress.reach(counts.answered);
    if (answer.problem !== undefined) {
      counts.failed++;
      if (json) return;
      progress.clear();
      const { code, detail } = answer.problem;
      output.result(printableLine(`line ${answer.line}: ${code}: ${detail}`));
    } else if (answer.replayed) counts.replayed++;
  }

  function end(): void {
    progress.clear();
    const { answered, failed, replayed } = counts;
    const what = dryRun ? "checked" : "sent";
    const earlier = replayed > 0 ? `, ${replayed} of them before` : "";
    if (!json) output.note(`${what} ${answered - failed} of ${answered} lines${earlier}${progress.summary()}`);
    if (failed > 0)
      throw new CliError(exitCodes.failed, `${failed} of ${answered} lines failed; the others were ${what}.`);
  }

  const againAfter = (why: string) =>
    `${printableLine(why)}\nThe lines up to ${counts.last} are answered. Run the same command again: what has an id is not sent twice.`;

  try {
    const options = { rate, dryRun, signal: interrupted.signal };
    for await (const answer of admin.sendBatchLines(bytes, options)) show(answer);
  } catch (error) {
    if (interrupted.signal.aborted) throw new CliError(exitCodes.failed, againAfter("interrupted"));
    if (!(error instanceof HeraldApiError) || counts.answered === 0) throw error;
    throw new CliError(error.status === 0 ? exitCodes.unreachable : exitCodes.failed, againAfter(error.detail));
  } finally {
    progress.clear();
    endInterrupts();
  }
  end();
}
