import { type Command, Option } from "commander";
import type { ScheduledSend, ScheduledState } from "../../../../sdk/admin.ts";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { type Column, createTable } from "../../output/table.ts";
import {
  addAct,
  addCall,
  addGroup,
  addList,
  addOrganizationCommand,
  type InOrganization,
} from "../../server-commands.ts";
import { addScheduleMessage, addScheduleSystem } from "./put.ts";
import { describeRequest } from "./requests.ts";

const columns: Column<ScheduledSend>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "AT", cell: ({ send_at }) => send_at },
  { title: "STATE", cell: ({ state }) => state },
  { title: "WHAT", cell: describeRequest, isCutFirst: true },
];

/** `herald schedule message`, `system`, `list`, `get` and `cancel`. */
export function addScheduleCommands(program: Command, output: Output): void {
  const schedule = addGroup(program, "schedule", "send later: schedule, list and cancel sends");
  addScheduleMessage(schedule, output);
  addScheduleSystem(schedule, output);
  const list = addOrganizationCommand(schedule, "list", "list scheduled sends, by time").addOption(
    new Option("--state <state>", "only those in this state")
      .choices(["waiting", "sent", "failed", "cancelled"])
      .argParser(String),
  );
  addList(list, output, {
    help: "\nExamples:\n  herald schedule list --org demo --state waiting\n  herald schedule list --org demo --state failed --json",
    list: (admin, { org, ...filter }: InOrganization & { state?: ScheduledState }) => ({
      read: (page) => admin.listScheduled(org, { ...page, ...filter }),
      print: createTable(columns, output).print,
      none: filter.state === undefined ? "Nothing is scheduled." : `No scheduled send is ${filter.state}.`,
    }),
  });
  const get = addOrganizationCommand(schedule, "get", "show a scheduled send, or what became of it");
  addCall(get.argument("<id>", "id of the scheduled send"), output, {
    help: "\nExample:\n  herald schedule get reminder-4711 --org demo",
    call: ({ admin }, id: string, { org }: InOrganization) => admin().getScheduled(org, id),
    show(scheduled, id: string) {
      const { send_at, state, created_at, sent_at, problem } = scheduled;
      const fields = [
        ["at", send_at],
        ["state", state],
        ["what", problem === null ? describeRequest(scheduled) : null],
        ["problem", problem === null ? null : `${problem.status} ${problem.code}: ${problem.detail}`],
        ["sent", sent_at],
        ["scheduled", created_at],
      ] as const;
      printFields(id, fields, output);
    },
  });
  const cancel = "cancel scheduled sends that still wait; they are never sent then";
  const command = addOrganizationCommand(schedule, "cancel", cancel).argument("<id...>", "ids of the scheduled sends");
  addAct(command, output, "cancelled", {
    help: "\nExample:\n  herald schedule cancel reminder-4711 --org demo",
    json: "print one JSON object on a line for each",
    act: (admin, id, { org }: InOrganization) => admin.cancelScheduled(org, id),
  });
}
