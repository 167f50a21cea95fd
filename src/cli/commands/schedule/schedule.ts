import { type Command, Option } from "commander";
import type { ScheduledSend, ScheduledState } from "../../../../sdk/admin.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { printFields } from "../../output/fields.ts";
import type { Output } from "../../output/output.ts";
import { addListOptions, type ListOptions, printList } from "../../output/pages.ts";
import { printableLine } from "../../output/printable.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addScheduleMessage, addScheduleSystem } from "./put.ts";

const columns: Column<ScheduledSend>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "AT", cell: ({ send_at }) => send_at },
  { title: "STATE", cell: ({ state }) => state },
  { title: "WHAT", cell: describe, isCutFirst: true },
];

/** `herald schedule message`, `system`, `list`, `get` and `cancel`. */
export function addScheduleCommands(program: Command, output: Output): void {
  const schedule = program
    .command("schedule")
    .description("send later: schedule, list and cancel sends")
    .helpCommand(false);
  addScheduleMessage(schedule, output);
  addScheduleSystem(schedule, output);
  addList(schedule, output);
  addGet(schedule, output);
  addCancel(schedule, output);
}

function addList(schedule: Command, output: Output): void {
  const command = schedule
    .command("list")
    .description("list scheduled sends, by time")
    .requiredOption("--org <id>", "organization")
    .addOption(
      new Option("--state <state>", "only those in this state")
        .choices(["waiting", "sent", "failed", "cancelled"])
        .argParser(String),
    );
  addClientOptions(addListOptions(command))
    .addHelpText(
      "after",
      "\nExamples:\n  herald schedule list --org demo --state waiting\n  herald schedule list --org demo --state failed --json",
    )
    .action(
      async ({ org, state, ...options }: ClientOptions & ListOptions & { org: string; state?: ScheduledState }) => {
        const admin = accessServer(options).admin();
        const { print } = createTable(columns, output);
        const none = state === undefined ? "Nothing is scheduled." : `No scheduled send is ${state}.`;
        const readPage: Parameters<typeof printList<ScheduledSend>>[0] = (page) =>
          admin.listScheduled(org, { ...page, ...(state !== undefined && { state }) });
        await printList(readPage, { options, print, none, output });
      },
    );
}

function addGet(schedule: Command, output: Output): void {
  const command = schedule
    .command("get")
    .description("show a scheduled send, or what became of it")
    .argument("<id>", "id of the scheduled send")
    .requiredOption("--org <id>", "organization")
    .option("--json", "print one JSON object");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald schedule get reminder-4711 --org demo")
    .action(async (id: string, { org, json, ...access }: ClientOptions & { org: string; json?: true }) => {
      const scheduled = await accessServer(access).admin().getScheduled(org, id);
      if (json) return output.json(scheduled);
      const { send_at, state, created_at, sent_at, problem } = scheduled;
      const fields = [
        ["at", send_at],
        ["state", state],
        ["what", problem === null ? describe(scheduled) : null],
        ["problem", problem === null ? null : `${problem.status} ${problem.code}: ${problem.detail}`],
        ["sent", sent_at],
        ["scheduled", created_at],
      ] as const;
      printFields(id, fields, output);
    });
}

function addCancel(schedule: Command, output: Output): void {
  const command = schedule
    .command("cancel")
    .description("cancel scheduled sends that still wait; they are never sent then")
    .argument("<id...>", "ids of the scheduled sends")
    .requiredOption("--org <id>", "organization")
    .option("--json", "print one JSON object on a line for each");
  addClientOptions(command)
    .addHelpText("after", "\nExample:\n  herald schedule cancel reminder-4711 --org demo")
    .action(async (ids: string[], { org, json, ...access }: ClientOptions & { org: string; json?: true }) => {
      const admin = accessServer(access).admin();
      for (const id of ids) {
        await admin.cancelScheduled(org, id);
        if (json) output.json({ cancelled: id });
        else output.result(printableLine(`cancelled ${id}`));
      }
    });
}

/** What is or was sent, in one line. */
function describe({ request, server_mid, problem }: ScheduledSend): string {
  if (problem !== null) return problem.code;
  if (request === null) return server_mid ?? "";
  if ("message" in request) {
    const { cid, body = "", attachments = [] } = request.message;
    const content = body === "" ? `${attachments.length} attachments` : body;
    return `${request.senderId} to ${cid}: ${content}`;
  }
  const { uids, cid } = request.messageSystem;
  return `${request.senderId} to ${uids === undefined ? (cid ?? "everyone") : `${uids.length} users`}`;
}
