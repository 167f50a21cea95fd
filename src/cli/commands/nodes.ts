import type { Command } from "commander";
import type { Node } from "../../../sdk/index.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../client-options.ts";
import type { Output } from "../output/output.ts";
import { printableLine } from "../output/printable.ts";

type Column = { title: string; cell(node: Node): string };

const columns: Column[] = [
  { title: "NODE", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name ?? "" },
  { title: "STATE", cell: ({ state }) => state },
  { title: "VERSION", cell: ({ version }) => version },
  { title: "ADDRESS", cell: ({ url }) => url },
  { title: "STARTED", cell: ({ started_at }) => started_at },
  { title: "CONNECTIONS", cell: ({ connections }) => String(connections) },
  { title: "ORGANIZATIONS", cell: ({ organizations }) => String(organizations) },
  { title: "LAG", cell: ({ lag_events }) => `${lag_events} events` },
];

/** `herald nodes`. */
export function addNodesCommand(program: Command, output: Output): void {
  const command = program
    .command("nodes")
    .description("list the nodes with their connections and lag")
    .option("--json", "print each node as one JSON object per line");
  addClientOptions(command)
    .addHelpText("after", "\nExamples:\n  herald nodes\n  herald nodes --json")
    .action(async ({ json, ...access }: ClientOptions & { json?: true }) => {
      const { items } = await accessServer(access).admin().listNodes();
      if (json) for (const node of items) output.json(node);
      else for (const line of toTable(items)) output.result(line);
    });
}

function toTable(nodes: Node[]): string[] {
  const rows = [
    columns.map(({ title }) => title),
    ...nodes.map((node) => columns.map(({ cell }) => printableLine(cell(node)))),
  ];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
