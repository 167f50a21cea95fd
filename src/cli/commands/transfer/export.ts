import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { type Command, Option } from "commander";
import type { AdminClient } from "../../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { createProgressLine } from "../../output/progress-line.ts";
import { followFeed } from "../events/follow-feed.ts";

type ExportOptions = ClientOptions & { org: string; user?: string; follow?: true };

const lineFeed = 0x0a;

/** `herald export`. The lines go to a file or to stdout, progress to stderr. */
export function addExportCommand(program: Command, output: Output): void {
  const command = program
    .command("export [file]")
    .description("export an organization, one JSON object per line, as `herald import` takes it")
    .requiredOption("--org <id>", "organization to export")
    .addOption(new Option("--user <id>", "export only what is stored of this user").conflicts("follow"))
    .option("--follow", "then add every event as it is delivered, one line each, until interrupted");
  addClientOptions(command)
    .addHelpText(
      "after",
      "\nExamples:\n  herald export demo.ndjson --org demo\n  herald export --org demo | gzip > demo.ndjson.gz\n  herald export --org demo --user bob\n  herald export demo.ndjson --org demo --follow",
    )
    .action((file: string | undefined, options: ExportOptions) => exportTo(file, options, output));
}

/** The lines of an export. Events that follow are `{"cursor","event"}`: the event as it is on the wire, and its cursor. */
async function exportTo(
  file: string | undefined,
  { org, user, follow, ...access }: ExportOptions,
  output: Output,
): Promise<void> {
  const server = accessServer(access);
  const admin = server.admin();
  const from = follow === true ? await cursorOfNow(admin, org) : undefined;
  const bytes = user === undefined ? admin.exportOrganization(org) : admin.exportUser(org, user);
  const target = file === undefined || file === "-" ? process.stdout : createWriteStream(file, { mode: 0o600 });
  const failed = Promise.withResolvers<never>();
  target.on("error", failed.reject);
  failed.promise.catch(() => undefined); // awaited below
  const write = async (piece: Uint8Array | string) => {
    if (!target.write(piece)) await Promise.race([once(target, "drain"), failed.promise]);
  };
  try {
    const summary = await writeExport(bytes, write);
    output.note(summary);
    if (from !== undefined)
      await followFeed({ what: `${org} on ${server.url}`, isResumable: true }, output, async (options) => {
        const feed = admin.events(org, { after: from, ...options });
        for await (const event of feed) await write(`${JSON.stringify({ cursor: feed.cursor, event })}\n`);
        return feed.cursor;
      });
    if (target !== process.stdout)
      await Promise.race([new Promise<void>((resolve) => target.end(resolve)), failed.promise]);
  } catch (error) {
    if (error instanceof Error && "syscall" in error)
      throw new CliError(exitCodes.failed, `the export could not be written: ${error.message}`);
    throw error;
  }
}

/** Writes an export and shows its progress; returns what to say of it. */
async function writeExport(
  bytes: AsyncIterable<Uint8Array>,
  write: (piece: Uint8Array) => Promise<void>,
): Promise<string> {
  const progress = createProgressLine();
  let lines = 0;
  try {
    for await (const piece of bytes) {
      for (const byte of piece) if (byte === lineFeed) lines++;
      progress.addBytes(piece.length);
      progress.reach(lines);
      await write(piece);
    }
  } finally {
    progress.clear();
  }
  return `exported ${lines} lines${progress.summary()}`;
}

/** The cursor of the newest event, before an export begins: what comes during the export is in it, follows it, or both. */
async function cursorOfNow(admin: AdminClient, org: string): Promise<string> {
  const known = new AbortController();
  const found = Promise.withResolvers<string>();
  const feed = admin.events(org, { signal: known.signal, onCursor: found.resolve });
  const first = feed.next();
  first.catch(found.reject);
  const cursor = await found.promise;
  known.abort();
  await first;
  return cursor;
}
