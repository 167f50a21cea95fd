import { HeraldError } from "../../contract/errors/errors.ts";

/** What became of one of several writes of a commit. */
export type Outcome<Result> = { result: Result } | { error: unknown };

/** Creates a flush that makes all writes in one commit. If that fails because of one of them, each is tried, and a bad one fails alone. */
export function failAlone<Item, Result>(
  writeAll: (items: Item[]) => Promise<Result[]>,
): (items: Item[]) => Promise<Outcome<Result>[]> {
  const write = async (items: Item[]): Promise<Outcome<Result>[]> =>
    (await writeAll(items)).map((result) => ({ result }));

  return async (items) => {
    try {
      return await write(items);
    } catch (error) {
      if (items.length === 1 || error instanceof HeraldError) throw error;
      const outcomes: Outcome<Result>[] = [];
      const asFailed = (failure: unknown) => [{ error: failure }];
      for (const item of items) outcomes.push(...(await write([item]).catch(asFailed)));
      return outcomes;
    }
  };
}

/** The result of a write; throws why it failed. */
export function resultOf<Result>(outcome: Outcome<Result>): Result {
  if ("error" in outcome) throw outcome.error;
  return outcome.result;
}
