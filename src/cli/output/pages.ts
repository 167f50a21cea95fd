import type { Command } from "commander";
import type { Page, PageOptions } from "../../../sdk/admin.ts";
import { parsePositive } from "../arguments.ts";
import type { Output } from "./output.ts";

/** The options of every command that prints a list. */
export type ListOptions = { limit?: number; all?: true; cursor?: string; json?: true };

/** What to list: how to read a page, how to print a part for people, and what to say if the list is empty. */
export type List<Item> = {
  read(page: PageOptions): Promise<Page<Item>>;
  print(items: readonly Item[]): void;
  none: string;
};

const perPage = 1000;
const defaultLimit = 100;

/** Adds `--limit`, `--all`, `--cursor` and `--json` to a command. */
export function addListOptions(command: Command): Command {
  return command
    .option("--limit <count>", `maximum number of entries (default: ${defaultLimit})`, parsePositive)
    .option("--all", "print all entries")
    .option("--cursor <cursor>", "continue after an earlier list, which told this cursor")
    .option("--json", "print each entry as one JSON object on a line");
}

/**
 * Prints a list for people, or one JSON object on a line for each entry. If there are more entries than were asked for, a note says
 * how to go on.
 */
export async function printList<Item>(
  { read, print, none }: List<Item>,
  options: ListOptions,
  output: Output,
): Promise<void> {
  const { limit = defaultLimit, all, json } = options;
  let rest = all ? Number.POSITIVE_INFINITY : limit;
  let cursor = options.cursor ?? null;
  let isEmpty = true;
  do {
    const page = await read({ limit: Math.min(rest, perPage), ...(cursor !== null && { cursor }) });
    isEmpty &&= page.items.length === 0;
    if (json) for (const item of page.items) output.json(item);
    else if (!isEmpty) print(page.items);
    rest -= page.items.length;
    cursor = page.cursor;
  } while (cursor !== null && rest > 0);
  if (cursor !== null) output.note(output.noteStyle.dim(`There are more: use --all, or go on with --cursor ${cursor}`));
  else if (isEmpty && !json) output.note(none);
}
