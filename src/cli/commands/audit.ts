import { type Command, Option } from "commander";
import type { AuditEntry, AuditFilter } from "../../../sdk/admin.ts";
import { parsePast, parsePositive } from "../arguments.ts";
import type { Output } from "../output/output.ts";
import { printableLine } from "../output/printable.ts";
import { addList } from "../server-commands.ts";

type AuditOptions = Omit<AuditFilter, "organization" | "key"> & { org?: string; by?: string };

const help = `
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
    .addOption(
      new Option("--result <result>", "only calls with this result")
        .choices(["done", "refused", "failed"])
        .argParser(String),
    )
    .option("--status <status>", "only calls with this HTTP status", parsePositive)
    .option("--after <id>", "only entries after this one, oldest first")
    .option("--since <when>", "only calls since this time, or since a duration ago, such as 7d, 12h or 30m", parsePast)
    .option("--until <when>", "only calls before this time, or before a duration ago", parsePast);
  addList(command, output, {
    help,
    list: (admin, { org, by, ...more }: AuditOptions) => ({
      read(page) {
        const filter = {
          ...(org !== undefined && { organization: org }),
          ...(by !== undefined && { key: by }),
          ...more,
        };
        return admin.listAudit({ ...filter, ...page });
      },
      print(entries) {
        for (const entry of entries) for (const line of describe(entry, output)) output.result(line);
      },
      none: "No matching entries.",
    }),
  });
}

/** Two lines: time, operation and result, then the target and the caller. */
function describe(entry: AuditEntry, { resultStyle }: Output): string[] {
  const end = entry.result === "done" ? entry.result : `${entry.result}: ${entry.status} ${entry.code ?? ""}`;
  const target = Object.entries(entry.target).map(([name, id]) => `${name} ${id}`);
  const who = entry.person === null ? (entry.key_id ?? "nobody") : `${entry.person} (${entry.key_id})`;
  const by = `by ${who} from ${entry.address ?? "an unknown address"}`;
  const omitted = entry.omitted === 0 ? [] : [`  (${entry.omitted} calls before this one were not logged)`];
  const head = printableLine(`${entry.created_at}  ${entry.operation}  ${end}`);
  return [resultStyle.bold(head), printableLine(`  ${[...target, by].join(", ")}`), ...omitted];
}
