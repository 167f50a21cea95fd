import type { Command } from "commander";
import { type AdminClient, type FeedEvent, HeraldApiError } from "../../../../sdk/admin.ts";
import {
  createClient,
  HeraldConnectionError,
  type ClientOptions as SdkOptions,
  type StateDetail,
} from "../../../../sdk/index.ts";
import { badToken, tooMany } from "../../../../sdk/waiting/return-wait.ts";
import { checkSecret } from "../../access/target.ts";
import { accessServer, addClientOptions, type ClientOptions } from "../../client-options.ts";
import { nameCause } from "../../errors/connection-failures.ts";
import { CliError, exitCodes } from "../../exit-codes.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addPrintOptions, createEventPrinter, type PrintOptions } from "../../output/render-event.ts";
import { onInterrupt } from "../../signals.ts";

type ListenOptions = ClientOptions & PrintOptions & { org?: string; user?: string; token?: string; since?: string };

const examples = `
Examples:
  herald listen --org demo --user bob
  herald listen --org demo --user bob --json | jq .message.body
  herald listen --org demo --user bob --count 1         wait for one event
  herald listen --token "$TOKEN" --url https://herald.example.org

Press Ctrl-C to stop. With --org and --user, the command uses the admin API key to issue a token whenever it needs one.`;

/** `herald listen`. */
export function addListenCommand(program: Command, output: Output): void {
  const command = program
    .command("listen")
    .description(
      "connect as a user, and show everything that arrives: messages, edits, recalls, system messages, and who has read the user's",
    )
    .option("--org <id>", "organization of the user")
    .option("--user <id>", "user to connect as")
    .option("--token <token>", "token of the user, instead of --org, --user and a key")
    .option("--since <id>", "first show the messages after this one (its _id)");
  addClientOptions(addPrintOptions(command))
    .addHelpText("after", examples)
    .action((options: ListenOptions) => listen(options, output));
}

/** Shows events until it is interrupted or has shown `count`. Rejects if the server refuses, or cannot be reached at first. */
async function listen(
  { org, user, token: given, since, count, json, ...access }: ListenOptions,
  output: Output,
): Promise<void> {
  const server = accessServer(access);
  const token = given === undefined ? undefined : checkSecret(given, "the token from --token");
  const done = Promise.withResolvers<void>();
  const dim = (text: string) => output.note(output.noteStyle.dim(printableLine(text)));
  const print = createEventPrinter({ count, json }, output);
  let hasConnected = false;
  let isConnected = false;
  let lastError: unknown;

  function show(event: FeedEvent): void {
    if (!print(event)) return;
    done.resolve();
    client.stop();
  }

  const onStateChange: SdkOptions["onStateChange"] = (state, detail) => {
    const { code = 0, reason = "", retryInMs = 0, cause } = detail;
    const wasConnected = isConnected;
    isConnected = state === "connected";
    const why = `${describeLoss(detail, lastError)}, retrying in ${(retryInMs / 1000).toFixed(1)} s`;
    if (state === "connected") {
      dim(`${hasConnected ? "reconnected" : `connected to ${server.url}`}${user === undefined ? "" : ` as ${user}`}`);
      hasConnected = true;
      lastError = undefined;
    } else if (state === "closed" || (code === badToken && token !== undefined && !wasConnected)) {
      // There is no other token than that of the option.
      done.reject(new CliError(exitCodes.failed, describeClose(code, reason)));
    } else if (state === "reconnecting" && hasConnected) {
      dim(`connection lost ${why}`);
    } else if (state === "reconnecting" && code === tooMany) {
      dim(`the server is busy ${why}`);
    } else if (state === "reconnecting" && code === badToken) {
      dim(`the token was refused ${why}`);
    } else if (state === "reconnecting") {
      const error = new HeraldConnectionError(describeFailure(reason, cause), { cause });
      done.reject(lastError instanceof HeraldApiError ? lastError : error);
    }
  };

  const client = createClient({
    url: server.url,
    token: token === undefined ? createTokenSource(server.admin(), org, user) : () => token,
    since,
    deviceId: "herald listen",
    onMessage: (message) => show({ message }),
    onSystemMessage: (message) => show({ system_message: message }),
    onMessageEdit: (edit) => show({ message_edit: edit }),
    onMessageAppend: (piece) => show({ message_append: piece }),
    onMessageReactions: (update) => show({ message_reactions_update: update }),
    onMessageDelete: (recall) => show({ message_delete: recall }),
    onSystemMessageDelete: (recall) => show({ system_message_delete: recall }),
    onSystemMessageRead: (read) => show({ system_message_read: read }),
    onMessageRead: (read) => show({ message_read: read }),
    onStateChange,
    onGap: ({ since: last }) =>
      dim(`gap: some messages ${last === undefined ? "" : `after ${last} `}may be missing; the history contains them`),
    onError: (error) => {
      lastError = error;
      const isFinal =
        error instanceof HeraldApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
      if (isFinal) done.reject(error);
    },
  });
  const endInterrupts = onInterrupt(done.resolve);
  client.start();
  try {
    await done.promise;
  } finally {
    client.stop();
    endInterrupts();
  }
}

function createTokenSource(admin: AdminClient, org: string | undefined, user: string | undefined) {
  if (org === undefined || user === undefined) {
    throw new CliError(exitCodes.usage, "no user to connect as. Give --org and --user, or --token.");
  }
  return async () => (await admin.createToken(org, user)).token;
}

/** Why a connection was lost: the close code with its reason or, while there is no connection at all, the error of the network. */
function describeLoss({ code = 0, reason = "", cause }: StateDetail, lastError: unknown): string {
  const error = cause ?? (lastError instanceof HeraldApiError ? lastError.cause : undefined);
  if (error !== undefined) return `(${code}): ${nameCause(error, reason)}`;
  return `(${code}${reason === "" ? "" : ` ${reason}`})`;
}

/** Why a WebSocket could not be opened. The error of a server that answers with something else says so, without a code. */
function describeFailure(reason: string, cause: unknown): string {
  if (reason !== "") return reason;
  const message = cause instanceof Error ? cause.message : "the connection could not be opened";
  const [, status] = /Expected 101 status code: (\d+)/.exec(message) ?? [];
  return status === undefined
    ? message
    : `it answered ${status} instead of opening a WebSocket; it may not be a Herald server`;
}

function describeClose(code: number, reason: string): string {
  const meanings: Record<number, string> = {
    4401: "the token is invalid or has expired. Issue another one with herald token --org … --user …",
    4403: "the user was signed out, blocked or removed. Run the command again once the user may connect.",
  };
  const meaning = meanings[code] ?? "it did not accept a request of this client.";
  return `the server closed the connection (${code}${reason === "" ? "" : ` ${printableLine(reason)}`}): ${meaning}`;
}
