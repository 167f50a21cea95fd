import type { DryRunAnswer } from "../../../../sdk/index.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";

/** What `--dry-run` says of itself in the help. */
export const dryRunHelp = "check it as if it were sent, and say whom it would reach; nothing is stored or sent";

/** Prints whom a send would reach. */
export function tellDryRun(answer: DryRunAnswer, json: true | undefined, output: Output): void {
  if (json) {
    output.json(answer);
    return;
  }
  const { recipients, online, unknown_users: unknown } = answer.dry_run;
  output.result(`would go to ${recipients} users, of whom ${online} are online`);
  if (unknown.length > 0) output.result(printableLine(`no users of the organization: ${unknown.join(", ")}`));
}
