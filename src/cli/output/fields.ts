import type { Output } from "./output.ts";
import { printableLine } from "./printable.ts";

/** Something with an id and a name. */
type Named = { id: string; name: string | null };

/** The id of something, with its name if it has one. */
export function titleOf({ id, name }: Named): string {
  return name === null ? id : `${id}  ${name}`;
}

/** Prints a title and, below, a line for each field that has a value. */
export function printFields(
  title: string,
  fields: readonly (readonly [label: string, value: string | null | undefined])[],
  { result, resultStyle }: Output,
): void {
  result(resultStyle.bold(printableLine(title)));
  for (const [label, value] of fields) if (value) result(printableLine(`  ${label}  ${value}`));
}
