import type { Command } from "commander";
import type { Node } from "../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../client-options.ts";
import type { Output } from "../output/output.ts";
import { type Column, createTable } from "../output/table.ts";

const columns: Column<Node>[] = [
  { title: "NODE", cell: ({ id }) => id },
  { title: "NAME", cell: ({ name }) => name ?? "" },
  { title: "STATE", cell: ({ state }) => state },
  { title: "VERSION", cell: ({ version }) => version },
  {
    title: "ADDRESS",
    cell: ({ url, admin_url: internal }) => (internal === undefined ? url : `${internal} (public: ${url})`),
  },
  { title: "STARTED", cell: ({ started_at }) => started_at },
  { title: "CONNECTIONS", cell: ({ connections }) => String(connections) },
  { title: "ORGANIZATIONS", cell: ({ organizations }) => String(organizations) },
  { title: "LAG", cell: ({ lag_events }) => `${lag_events} events` },
  { title: "PROBLEMS", cell: ({ problems = [] }) => problems.map(({ kind }) => kind).join(", ") },
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
      else createTable(columns, output).print(items);
    });
}
