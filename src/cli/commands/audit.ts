import type { Command } from "commander";
import type { AdminClient, AuditEntry, AuditFilter } from "../../../sdk/index.ts";
import { parsePast, parsePositive } from "../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../client-options.ts";
import type { Output } from "../output/output.ts";
import { printableLine } from "../output/printable.ts";

const perPage = 1000;

type AuditOptions = ClientOptions & {
  org?: string;
  by?: string;
  operation?: string;
  result?: "done" | "refused" | "failed";
  status?: number;
  since?: string;
  until?: string;
  limit: number;
  json?: true;
};

const afterHelp = `
Examples:
  herald audit --org demo --since 7d
  herald audit --result refused --limit 20
  herald audit --operation deleteUser --since 2026-11-01 --json`;

/** `herald audit`. */
export function addAuditCommand(program: Command, output: Output): void {
  const command = program
    .command("audit")
    .description("read the audit log, newest first: who did what, and which calls were refused")
    .option("--org <id>", "only entries of this organization")
    .option("--by <key id>", "only calls with this API key")
    .option("--operation <operationId>", "only calls to this operation, for example deleteUser")
    .option("--result <result>", "only calls with this result: done, refused or failed")
    .option("--status <status>", "only calls with this HTTP status", parsePositive)
    .option("--since <when>", "only calls since this time, or since a duration ago, such as 7d, 12h or 30m", parsePast)
    .option("--until <when>", "only calls before this time, or before a duration ago", parsePast)
    .option("--limit <count>", "maximum number of entries", parsePositive, 100)
    .option("--json", "print each entry as one JSON object on a line");
  addClientOptions(command)
    .addHelpText("after", afterHelp)
    .action(async ({ org, by, operation, result, status, since, until, limit, json, ...access }: AuditOptions) => {
      const filter: AuditFilter = {
        ...(org !== undefined && { organization: org }),
        ...(by !== undefined && { key: by }),
        ...(operation !== undefined && { operation }),
        ...(result !== undefined && { result }),
        ...(status !== undefined && { status }),
        ...(since !== undefined && { since }),
        ...(until !== undefined && { until }),
      };
      let count = 0;
      for await (const entry of entriesOf(accessServer(access).admin(), filter, limit)) {
        count++;
        if (json) output.json(entry);
        else for (const line of describe(entry, output)) output.result(line);
      }
      if (count === 0 && !json) output.note("No matching entries.");
    });
}

async function* entriesOf(admin: AdminClient, filter: AuditFilter, limit: number): AsyncGenerator<AuditEntry, void> {
  let rest = limit;
  for (let cursor: string | undefined; rest > 0; ) {
    const page = await admin.listAudit({
      ...filter,
      limit: Math.min(rest, perPage),
      ...(cursor !== undefined && { cursor }),
    });
    yield* page.items;
    rest -= page.items.length;
    if (page.cursor === null) return;
    cursor = page.cursor;
  }
}

/** Two lines: time, operation and result, then the target and the caller. */
function describe(entry: AuditEntry, { resultStyle }: Output): string[] {
  const end = entry.result === "done" ? entry.result : `${entry.result}: ${entry.status} ${entry.code ?? ""}`;
  const target = Object.entries(entry.target).map(([name, id]) => `${name} ${id}`);
  const by = `by ${entry.key_id ?? "nobody"} from ${entry.address ?? "an unknown address"}`;
  const omitted = entry.omitted === 0 ? [] : [`  (${entry.omitted} calls before this one were not logged)`];
  const head = printableLine(`${entry.created_at}  ${entry.operation}  ${end}`);
  return [resultStyle.bold(head), printableLine(`  ${[...target, by].join(", ")}`), ...omitted];
}
