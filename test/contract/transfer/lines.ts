import type { Herald } from "../../harness/servers/herald.ts";
import type { Organization } from "../../harness/servers/organization.ts";

/** A line of a report or of an export. */
export type Line = Record<string, unknown> & {
  line?: number;
  lines?: number;
  failed?: number;
  done?: boolean;
  problem?: { code: string; status: number; errors?: { pointer: string }[] };
};

/** Imports lines; a text is sent as it is. */
export async function importInto(
  org: Organization,
  lines: readonly (object | string)[],
  { query = "", key = org.herald.key }: { query?: string; key?: string } = {},
): Promise<{ status: number; report: Line[]; end: Line | undefined; text: string }> {
  const body = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
  const headers = { "Admin-Api-Key": key, "Content-Type": "application/x-ndjson" };
  const { status, text } = await org.herald.http<unknown>("POST", `${org.path("import")}${query}`, { body, headers });
  const report = status === 200 ? linesOf(text) : [];
  return { status, report, end: report.at(-1), text };
}

/** Exports an organization, or what is at the given path in it. */
export async function exportOf(org: Organization, ...path: string[]): Promise<Line[]> {
  return linesOf(await exportTextOf(org.herald, org.path(...path, "export")));
}

async function exportTextOf(herald: Herald, path: string): Promise<string> {
  const { status, text } = await herald.http<unknown>("GET", path, { headers: { "Admin-Api-Key": herald.key } });
  if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${text}`);
  return text;
}

function linesOf(text: string): Line[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** A line of a message, written so many minutes after midnight. */
export function messageLine(id: string, minutes: number, more: Record<string, unknown> = {}) {
  const created_at = new Date(Date.UTC(2024, 0, 1) + minutes * 60_000).toISOString();
  return { message: { id, cid: "room", senderId: "alice", body: `body of ${id}`, x: { n: 1 }, created_at, ...more } };
}
