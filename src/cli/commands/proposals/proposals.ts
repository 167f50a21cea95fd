import { type Command, Option } from "commander";
import type { Proposal, ProposalState } from "../../../../sdk/admin.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addAct, addList, addOrganizationCommand, type InOrganization } from "../../server-commands.ts";
import { describeRequest } from "../schedule/requests.ts";

type Decision = InOrganization & { reason?: string };

const columns: Column<Proposal>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "UNTIL", cell: ({ expires_at }) => expires_at },
  { title: "STATE", cell: ({ state }) => state },
  { title: "BY KEY", cell: ({ proposed_by }) => proposed_by },
  { title: "WHY", cell: ({ reason }) => reason ?? "", isCutFirst: true },
  { title: "WHAT", cell: (proposal) => describeRequest(proposal), isCutFirst: true },
];

/** `herald proposals`, `approve` and `reject`. */
export function addProposalCommands(program: Command, output: Output): void {
  const list = addOrganizationCommand(program, "proposals", "list proposed sends, oldest first").addOption(
    new Option("--state <state>", "only those in this state")
      .choices(["waiting", "approved", "rejected", "failed", "expired"])
      .argParser(String),
  );
  addList(list, output, {
    help: "\nExamples:\n  herald proposals --org demo --state waiting\n  herald proposals --org demo --state failed --json",
    list: (admin, { org, ...filter }: InOrganization & { state?: ProposalState }) => ({
      read: (page) => admin.listProposals(org, { ...page, ...filter }),
      print: createTable(columns, output).print,
      none: filter.state === undefined ? "Nothing is proposed." : `No proposal is ${filter.state}.`,
    }),
  });
  const approve = addDecision(program, "approve", "approve proposals, which sends them");
  addAct(approve, output, "approved", {
    help: "\nExample:\n  herald approve answer-4711 --org demo",
    json: "print one JSON object on a line for each",
    act: async (admin, id, { org, ...decision }: Decision) =>
      requireSent(await admin.approveProposal(org, id, decision)),
  });
  const reject = addDecision(program, "reject", "reject proposals, which are never sent then");
  addAct(reject, output, "rejected", {
    help: '\nExample:\n  herald reject answer-4711 --org demo --reason "ask the customer first"',
    json: "print one JSON object on a line for each",
    act: (admin, id, { org, ...decision }: Decision) => admin.rejectProposal(org, id, decision),
  });
}

function addDecision(program: Command, name: string, description: string): Command {
  return addOrganizationCommand(program, name, description)
    .argument("<id...>", "ids of the proposals")
    .option("--reason <text>", "why it is decided so");
}

/** Throws if a proposal was approved but could not be sent. */
function requireSent(proposal: Proposal): Proposal {
  const { id, problem } = proposal;
  if (problem === null) return proposal;
  const { status, code, detail } = problem;
  const text = `${id} was approved, but could not be sent: ${status} ${code}: ${detail}`;
  throw new CliError(exitCodes.failed, printableLine(text));
}
