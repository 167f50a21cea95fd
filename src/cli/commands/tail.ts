import type { Command } from "commander";
import type { AdminClient, FeedEvent, FeedFilter, FeedOptions } from "../../../sdk/index.ts";
import { parsePositive } from "../arguments.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../client-options.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { printableLine } from "../output/printable.ts";
import { renderMessage, renderSystemMessage } from "../output/render-event.ts";

type TailOptions = ClientOptions & FeedFilter & { org?: string; count?: number; json?: true };

const examples = `
Examples:
  herald tail                                    everything delivered in the only organization that there is
  herald tail --org demo --kind system_message
  herald tail --org demo --uid bob --json | jq .message.body

Ctrl-C ends it. The key needs the scope observe. What was delivered before is not shown: the history has it.`;

/** `herald tail`. */
export function addTailCommand(program: Command, output: Output): void {
  const command = program
    .command("tail")
    .description("watch everything that is delivered in an organization, live")
    .option("--org <id>", "the organization (default: the only one that the key can see)")
    .option("--kind <kind>", "only message, or only system_message")
    .option("--cid <id>", "only messages of this conversation")
    .option("--uid <id>", "only what this user sent or is to receive")
    .option("--count <n>", "end after this many events", parsePositive)
    .option("--json", "print each event as it is on the wire, one JSON object a line");
  addClientOptions(command)
    .addHelpText("after", examples)
    .action((options: TailOptions) => tail(options, output));
}

/** Shows events until it is interrupted or has shown `count`. Rejects when the server refuses or was never reached. */
async function tail({ org, kind, cid, uid, count, json, ...access }: TailOptions, output: Output): Promise<void> {
  const server = accessServer(access);
  const admin = server.admin();
  const watched = org ?? (await onlyOrganization(admin));
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  const dim = (text: string) => output.note(output.noteStyle.dim(printableLine(text)));
  let hasConnected = false;

  const onStateChange: FeedOptions["onStateChange"] = (state, { error, retryInMs = 0 }) => {
    if (state === "reconnecting") {
      dim(`${error?.detail ?? "the feed broke"}; trying again in ${(retryInMs / 1000).toFixed(1)} s`);
    } else if (hasConnected) {
      dim("watching again; what was delivered meanwhile is not shown here, the history has its messages");
    } else {
      hasConnected = true;
      dim(`watching ${watched} on ${server.url}`);
    }
  };

  const filter = { ...(kind && { kind }), ...(cid !== undefined && { cid }), ...(uid !== undefined && { uid }) };
  let left = count ?? Number.POSITIVE_INFINITY;
  try {
    for await (const event of admin.events(watched, { ...filter, onStateChange, signal: interrupted.signal })) {
      if (json) output.json(event);
      else output.result(render(event, output));
      left -= 1;
      if (left === 0) return;
    }
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

function render(event: FeedEvent, { resultStyle }: Output): string {
  return "message" in event
    ? renderMessage(event.message, resultStyle)
    : renderSystemMessage(event.system_message, resultStyle);
}

/** The organization that nobody has to name, since there is no other. */
async function onlyOrganization(admin: AdminClient): Promise<string> {
  const { items } = await admin.listOrganizations({ limit: 2 });
  const [first, second] = items;
  if (first !== undefined && second === undefined) return first.id;
  const why = first === undefined ? "there is no organization yet" : "there are several";
  throw new CliError(exitCodes.usage, `which organization shall be watched? Give --org; ${why}.`);
}
