import { type Command, Option } from "commander";
import type { AdminClient, FeedFilter, FeedOptions } from "../../../../sdk/admin.ts";
import { eventNames } from "../../../contract/connections/event-names.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { addPrintOptions, createEventPrinter, type PrintOptions } from "../../output/render-event.ts";
import { followFeed } from "./follow-feed.ts";

type TailOptions = ClientOptions & PrintOptions & FeedFilter & Pick<FeedOptions, "after"> & { org?: string };

const examples = `
Examples:
  herald tail                                    everything delivered in the only organization
  herald tail --org demo --kind system_message
  herald tail --org demo --uid bob --json | jq .message.body
  herald tail --org demo --after 4711-019aa8c4-7a3e-7b1f-8c2d-0123456789ab

Press Ctrl-C to stop: that prints the cursor to go on from with --after. The key needs the scope observe.`;

/** `herald tail`. */
export function addTailCommand(program: Command, output: Output): void {
  const command = program
    .command("tail")
    .description("watch everything that is delivered in an organization, from now on or after a cursor")
    .option("--org <id>", "organization (default: the only one that the key can access)")
    .addOption(
      new Option("--kind <kind>", "only events of this kind")
        .choices([...new Set(Object.values(eventNames))])
        .argParser(String),
    )
    .option("--after <cursor>", "begin with the event after this cursor; cannot be combined with --uid")
    .option("--cid <id>", "only messages of this conversation, their edits, recalls and reads")
    .option("--uid <id>", "only events that this user sends or receives");
  addClientOptions(addPrintOptions(command))
    .addHelpText("after", examples)
    .action((options: TailOptions) => tail(options, output));
}

/** Shows events until it is interrupted or has shown `count`. Rejects if the server refuses, or cannot be reached at first. */
async function tail(
  { org, kind, cid, uid, after, count, json, ...access }: TailOptions,
  output: Output,
): Promise<void> {
  const server = accessServer(access);
  const admin = server.admin();
  const watched = org ?? (await onlyOrganization(admin));
  const filter = { ...(kind && { kind }), ...(cid !== undefined && { cid }), ...(uid !== undefined && { uid }) };
  const print = createEventPrinter({ count, json }, output);
  const where = { what: `${watched} on ${server.url}`, isResumable: uid === undefined };
  await followFeed(where, output, async (options) => {
    const feed = admin.events(watched, { ...filter, after, ...options });
    for await (const event of feed) if (print(event)) break;
    return feed.cursor;
  });
}

/** The only organization, which the user need not name. Throws if there are none or several. */
async function onlyOrganization(admin: AdminClient): Promise<string> {
  const { items } = await admin.listOrganizations({ limit: 2 });
  const [first, second] = items;
  if (first !== undefined && second === undefined) return first.id;
  const why = first === undefined ? "there is no organization yet" : "there are several organizations";
  throw new CliError(exitCodes.usage, `no organization to watch: ${why}. Give one with --org.`);
}
