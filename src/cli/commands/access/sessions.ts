import type { Command } from "commander";
import type { ConsoleSession } from "../../../../sdk/admin.ts";
import { nameScopes } from "../../../contract/keys/scopes.ts";
import type { Output } from "../../output/output.ts";
import { type Column, createTable } from "../../output/table.ts";
import { addAct, addGroup, addList } from "../../server-commands.ts";

const columns: Column<ConsoleSession>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "PERSON", cell: ({ person }) => person },
  { title: "SINCE", cell: ({ created_at }) => created_at },
  { title: "UNTIL", cell: ({ expires_at }) => expires_at },
  { title: "ADDRESS", cell: ({ address }) => address ?? "" },
  { title: "MAY", cell: ({ scopes }) => nameScopes(scopes) },
  { title: "IN", cell: ({ organizations }) => organizations?.join(", ") ?? "all organizations", isCutFirst: true },
];

/** `herald sessions list` and `end`. */
export function addSessionCommands(program: Command, output: Output): void {
  const sessions = addGroup(
    program,
    "sessions",
    "list and end the sessions of people who are signed in to the console",
  );
  addList(sessions.command("list").description("list who is signed in to the console"), output, {
    help: "\nExamples:\n  herald sessions list\n  herald sessions list --json",
    list: (admin) => ({
      read: (page) => admin.listSessions(page),
      print: createTable(columns, output).print,
      none: "Nobody is signed in.",
    }),
  });
  const end = sessions
    .command("end")
    .description("end sessions; every node refuses them from then on")
    .argument("<id...>", "ids of the sessions, from `herald sessions list`");
  addAct(end, output, "ended", {
    help: "\nExample:\n  herald sessions end 01a1f90f-2b61-7c44-8d05-3e2f1a0b9c8d",
    act: (admin, id) => admin.endSession(id),
  });
}
