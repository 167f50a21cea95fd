import type { Command } from "commander";
import type { FeedEvent } from "../../../sdk/admin.ts";
import { parsePositive } from "../arguments.ts";
import type { Output } from "./output.ts";

import { renderEvent } from "./render-event.ts";

/** The options of every command that shows events as they arrive. */
export type PrintOptions = { count?: number | undefined; json?: true | undefined };

/** Adds `--count` and `--json` to a command. */
export function addPrintOptions(command: Command): Command {
  return command
    .option("--count <n>", "stop after this many events", parsePositive)
    .option("--json", "print each event exactly as received, one JSON object per line");
}

/** Creates a function that prints an event, and returns true once it has printed `count` of them. */
export function createEventPrinter({ count, json }: PrintOptions, output: Output): (event: FeedEvent) => boolean {
  const { resultStyle } = output;
  let left = count ?? Number.POSITIVE_INFINITY;
  return (event) => {
    if (json) output.json(event);
    else output.result(renderEvent(event, resultStyle));
    left -= 1;
    return left <= 0;
  };
}
