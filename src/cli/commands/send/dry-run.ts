import type { DryRunAnswer } from "../../../../sdk/admin.ts";
import type { Output } from "../../output/output.ts";
import { printableLine } from "../../output/printable.ts";

/** The help text of `--dry-run`. */
export const dryRunHelp = "check the request and show whom it would reach, without storing or sending anything";

/** Prints whom a send would reach; `what` says what would happen to them. */
export function tellDryRun({ dry_run }: DryRunAnswer, output: Output, what = "would be sent to"): void {
  const { recipients, online, unknown_users: unknown } = dry_run;
  output.result(`${what} ${recipients} users, ${online} of them online`);
  if (unknown.length > 0) output.result(printableLine(`not users of the organization: ${unknown.join(", ")}`));
}
