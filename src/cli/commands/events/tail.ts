import { type Command, Option } from "commander";
import type { AdminClient, FeedFilter, FeedOptions } from "../../../../sdk/admin.ts";
import { eventNames } from "../../../contract/connections/event-names.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { nameCause } from "../../errors/connection-failures.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addPrintOptions, createEventPrinter, type PrintOptions } from "../../output/render-event.ts";
import { onInterrupt } from "../../signals.ts";

type TailOptions = ClientOptions & PrintOptions & FeedFilter & { org?: string };

const examples = `
Examples:
  herald tail                                    everything delivered in the only organization
  herald tail --org demo --kind system_message
  herald tail --org demo --uid bob --json | jq .message.body

Press Ctrl-C to stop. The key needs the scope observe. Events delivered earlier are not shown; the history contains the messages.`;

/** `herald tail`. */
export function addTailCommand(program: Command, output: Output): void {
  const command = program
    .command("tail")
    .description("watch everything that is delivered in an organization, live")
    .option("--org <id>", "organization (default: the only one that the key can access)")
    .addOption(
      new Option("--kind <kind>", "only events of this kind").choices(Object.values(eventNames)).argParser(String),
    )
    .option("--cid <id>", "only messages of this conversation, their edits, recalls and reads")
    .option("--uid <id>", "only events that this user sends or receives");
  addClientOptions(addPrintOptions(command))
    .addHelpText("after", examples)
    .action((options: TailOptions) => tail(options, output));
}

/** Shows events until it is interrupted or has shown `count`. Rejects if the server refuses, or cannot be reached at first. */
async function tail({ org, kind, cid, uid, count, json, ...access }: TailOptions, output: Output): Promise<void> {
  const server = accessServer(access);
  const admin = server.admin();
  const watched = org ?? (await onlyOrganization(admin));
  const interrupted = new AbortController();
  const endInterrupts = onInterrupt(() => interrupted.abort());
  const dim = (text: string) => output.note(output.noteStyle.dim(printableLine(text)));
  let hasConnected = false;

  const onStateChange: FeedOptions["onStateChange"] = (state, { error, retryInMs = 0 }) => {
    if (state === "reconnecting") {
      const why = error === undefined ? "" : `: ${nameCause(error.cause, error.detail)}`;
      dim(`the feed was interrupted${why}; retrying in ${(retryInMs / 1000).toFixed(1)} s`);
    } else if (hasConnected) {
      dim("watching again; events delivered in the meantime are not shown, but the history contains the messages");
    } else {
      hasConnected = true;
      dim(`watching ${watched} on ${server.url}`);
    }
  };

  const filter = { ...(kind && { kind }), ...(cid !== undefined && { cid }), ...(uid !== undefined && { uid }) };
  const print = createEventPrinter({ count, json }, output);
  try {
    for await (const event of admin.events(watched, { ...filter, onStateChange, signal: interrupted.signal })) {
      if (print(event)) return;
    }
  } finally {
    endInterrupts();
  }
}

/** The only organization, which the user need not name. Throws if there are none or several. */
async function onlyOrganization(admin: AdminClient): Promise<string> {
  const { items } = await admin.listOrganizations({ limit: 2 });
  const [first, second] = items;
  if (first !== undefined && second === undefined) return first.id;
  const why = first === undefined ? "there is no organization yet" : "there are several organizations";
  throw new CliError(exitCodes.usage, `no organization to watch: ${why}. Give one with --org.`);
}
