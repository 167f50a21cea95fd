import type { Command } from "commander";
import type { AdminClient, DryRunAnswer, Waited } from "../../../../sdk/admin.ts";
import { parseAhead } from "../../arguments.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";
import { addCall } from "../../server-commands.ts";

type Envelope<Content> = Content & { organizationId: string; senderId: string };

/**
 * What a command sends for `--org` and `--from`: the `content` for its arguments and options, which `send` sends, and `show` tells
 * what became of it. With `--dry-run`, `tryOut` only finds out what it `would` do, and to how many users.
 */
type Send<Content, Answer> = {
  help: string;
  content(...args: unknown[]): Content | Promise<Content>;
  would?: string;
  tryOut(admin: AdminClient, envelope: Envelope<Content>, options: unknown): Promise<DryRunAnswer>;
  send(admin: AdminClient, envelope: Envelope<Content>, options: unknown): Promise<Answer>;
  show(answer: Answer, ...args: unknown[]): void;
};

/** Completes a command that sends or changes messages, now or later. */
export function addSend<Content, Answer extends object>(
  command: Command,
  output: Output,
  { help, content, would = "would be sent to", tryOut, send, show }: Send<Content, Answer>,
): void {
  command.option("--dry-run", "check the request and show whom it would reach, without storing or sending anything");
  addCall<Answer | DryRunAnswer>(command, output, {
    help,
    json: "print the server's response as one JSON object",
    async call({ admin }, ...args) {
      const options = command.opts();
      const envelope = { organizationId: options.org, senderId: options.from, ...(await content(...args)) };
      return await (options.dryRun ? tryOut : send)(admin(), envelope, options);
    },
    show(answer, ...args) {
      if (!isDryRun(answer)) return show(answer, ...args);
      const { recipients, online, unknown_users: unknown } = answer.dry_run;
      output.result(`${would} ${recipients} users, ${online} of them online`);
      if (unknown.length > 0) output.result(printableLine(`not users of the organization: ${unknown.join(", ")}`));
    },
  });
}

function isDryRun(answer: object): answer is DryRunAnswer {
  return "dry_run" in answer;
}

/** The help text of `--wait`. */
export const waitHelp =
  "wait until everyone online has it and acknowledging clients have acknowledged, at most so many seconds (1 to 30)";

/** What the options of `addSendOptions` say. */
export type SendOptions = { silent?: true; expires?: string };

/** Adds the options that both kinds of sends have. */
export function addSendOptions(command: Command): Command {
  return command
    .option("--silent", "count it as unread nowhere, and tell no webhook of it")
    .option(
      "--expires <when>",
      "when it ends and its content is removed: a time, or a duration from now, such as 30m, 2h or 7d",
      parseAhead,
    );
}

/** The members of either send for these options. */
export function sendMembersOf({ silent, expires }: SendOptions) {
  return { ...(silent && { silent }), ...(expires !== undefined && { expires_at: expires }) };
}

/** Prints what became of a send that waited. */
export function tellDelivery({ delivery }: Waited, wait: number | undefined, output: Output): void {
  if (wait === undefined) return;
  if (delivery === undefined) {
    output.result("the server did not wait, as too many callers are waiting; see herald report");
    return;
  }
  const { recipients, online, delivered, acknowledged } = delivery;
  output.result(`${online} of ${recipients} users online, delivered to ${delivered}, acknowledged by ${acknowledged}`);
}
