import { writeSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { type ClientOptions, describeTarget } from "./client-options.ts";
import { addLoginCommand } from "./commands/access/login.ts";
import { addLogoutCommand, addProfilesCommand } from "./commands/access/profiles.ts";
import { addSessionCommands } from "./commands/access/sessions.ts";
import { addWhoamiCommand } from "./commands/access/whoami.ts";
import { addAuditCommand } from "./commands/audit.ts";
import { addBackupCommand, addRestoreCommand } from "./commands/backup.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addConversationsCommands } from "./commands/directory/conversations.ts";
import { addOrgsCommands } from "./commands/directory/orgs.ts";
import { addParticipantsCommands } from "./commands/directory/participants.ts";
import { addTokenCommands } from "./commands/directory/tokens.ts";
import { addUsersCommands } from "./commands/directory/users.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addListenCommand } from "./commands/events/listen.ts";
import { addTailCommand } from "./commands/events/tail.ts";
import { addFileCommands } from "./commands/files/files.ts";
import { addHealthCommand } from "./commands/health.ts";
import { addInboxCommand } from "./commands/inbox.ts";
import { addKeysCommands } from "./commands/keys/keys.ts";
import { addMcpCommand } from "./commands/mcp.ts";
import { addNodesCommand } from "./commands/nodes.ts";
import { addOpenapiCommand } from "./commands/openapi.ts";
import { addOutboxCommand } from "./commands/outbox.ts";
import { addProposalCommands } from "./commands/proposals/proposals.ts";
import { addProposeCommands } from "./commands/proposals/propose.ts";
import { addReadCommand } from "./commands/read.ts";
import { addRecipientsCommands } from "./commands/recipients.ts";
import { addReportCommands } from "./commands/report.ts";
import { addScheduleCommands } from "./commands/schedule/schedule.ts";
import { addBatchCommand } from "./commands/send/batch.ts";
import { addEditCommand } from "./commands/send/edit.ts";
import { addSendMessageCommand } from "./commands/send/message.ts";
import { addReactCommand } from "./commands/send/react.ts";
import { addRecallCommand } from "./commands/send/recall.ts";
import { addSendSystemCommand } from "./commands/send/system.ts";
import { addTypingCommand } from "./commands/send/typing.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addExportCommand } from "./commands/transfer/export.ts";
import { addImportCommand } from "./commands/transfer/import.ts";
import { addMigrateCommand, addUpgradeCommand } from "./commands/upgrade.ts";
import { addWebhookCommands } from "./commands/webhooks/webhooks.ts";
import { explain } from "./errors/explain.ts";
import { exitCodes } from "./exit-codes.ts";
import { createOutput, type Output } from "./output/output.ts";
import { addGroup } from "./server-commands.ts";
import { withKnownWords } from "./synonyms.ts";
import { addVersionCommand, heraldVersion } from "./version.ts";
import { addWorkerCommand } from "./workers/worker.ts";

/** The exit codes with their meanings, as the help shows them. */
export const exitCodesHelp = [
  [exitCodes.ok, "done"],
  [exitCodes.failed, "failed: the server refused the request, or an error occurred"],
  [exitCodes.usage, "usage: invalid arguments or settings"],
  [exitCodes.unreachable, "the server could not be reached"],
] as const;

const afterHelp = `
Examples:
  herald serve                                                        start the server
  herald listen --org demo --user bob                                 see what bob receives
  herald send message --org demo --from alice --to welcome "Hello"    send to a conversation

Exit codes:
${exitCodesHelp.map(([code, meaning]) => `  ${code}  ${meaning}`).join("\n")}

Other words work, too: create, add, set and update for put, show for get, rm for delete, ls for list, org for orgs.
Run \`herald <command> --help\` for details, and \`herald serve --help\` for the settings.`;

/** Creates the command line: `herald` with all its commands. */
export function createProgram(output: Output): Command {
  const program = new Command("herald")
    .description("Real-time delivery of messages and system messages.")
    .version(heraldVersion, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .showHelpAfterError("(run with --help for usage)")
    .addHelpText("after", afterHelp)
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, `${output.noteStyle.red("herald:")} `)),
    })
    .exitOverride();
  program.commandsGroup("Server:");
  addServeCommand(program, output);
  addWorkerCommand(program);
  addNodesCommand(program, output);
  addHealthCommand(program, output);
  addDoctorCommand(program, output);
  addBackupCommand(program, output);
  addOutboxCommand(program, output);
  addRestoreCommand(program, output);
  addUpgradeCommand(program, output);
  addMigrateCommand(program, output);
  program.commandsGroup("Messages:");
  const send = addGroup(program, "send", "send a message to a conversation, or a system message to users");
  addSendMessageCommand(send, output);
  addSendSystemCommand(send, output);
  addBatchCommand(program, output);
  addEditCommand(program, output);
  addReactCommand(program, output);
  addRecallCommand(program, output);
  addTypingCommand(program, output);
  addReadCommand(program, output);
  addScheduleCommands(program, output);
  addProposeCommands(program, output);
  addProposalCommands(program, output);
  addWebhookCommands(program, output);
  addFileCommands(program, output);
  addReportCommands(program, output);
  addRecipientsCommands(program, output);
  addInboxCommand(program, output);
  addListenCommand(program, output);
  addTailCommand(program, output);
  program.commandsGroup("Directory:");
  addOrgsCommands(program, output);
  addUsersCommands(program, output);
  addConversationsCommands(program, output);
  addParticipantsCommands(program, output);
  addTokenCommands(program, output);
  addImportCommand(program, output);
  addExportCommand(program, output);
  program.commandsGroup("Access:");
  addLoginCommand(program, output);
  addLogoutCommand(program, output);
  addProfilesCommand(program, output);
  addWhoamiCommand(program, output);
  addKeysCommands(program, output);
  addSessionCommands(program, output);
  addAuditCommand(program, output);
  program.commandsGroup("This program:");
  addMcpCommand(program);
  addOpenapiCommand(program, output);
  addCompletionCommand(program, output);
  addVersionCommand(program, output);
  return program;
}

/** Runs the command line and returns its exit code. `argv` excludes the runtime and the script. */
async function run(argv: string[], output: Output): Promise<number> {
  const program = createProgram(output);
  let options: ClientOptions = {};
  program.hook("preAction", (_program, command) => {
    options = command.opts();
  });
  try {
    // `herald help users` is another way to write `herald users --help`.
    const given = argv[0] === "help" ? [...argv.slice(1), "--help"] : argv;
    await program.parseAsync(withKnownWords(program, given), { from: "user" });
    return exitCodes.ok;
  } catch (error) {
    // Commander has already printed the help or the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    const { exitCode, message } = await explain(error, describeTarget(options));
    output.note(`${output.noteStyle.red("herald:")} ${message}`);
    return exitCode;
  }
}

if (import.meta.main) {
  // A closed pipe (`herald listen | head -1`) is a normal end.
  process.stdout.on("error", (error: Error & { code?: string }) => {
    if (error.code === "EPIPE") process.exit(exitCodes.ok);
    writeSync(2, `herald: the result could not be written: ${error.message}\n`);
    process.exit(exitCodes.failed);
  });
  const exitCode = await run(process.argv.slice(2), createOutput());
  // Exit instead of waiting for the event loop to drain: a failed start may leave engines behind that keep it alive.
  // First wait until a slow reader of a pipe has read everything; the callback of an empty write would come too early.
  for (const stream of [process.stdout, process.stderr]) await new Promise<void>((resolve) => stream.end(resolve));
  process.exit(exitCode);
}
