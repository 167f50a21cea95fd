import type { Waited } from "../../../../sdk/admin.ts";
import type { Output } from "../../output/output.ts";

/** The help text of `--wait`. */
export const waitHelp =
  "wait until everyone online has it and acknowledging clients have acknowledged, at most so many seconds (1 to 30)";

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
