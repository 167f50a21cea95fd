import type { Page, PageOptions } from "../../types.ts";

const perPage = 1_000;

/** Yields the items of a list, page after page. A page may be empty without being the last. */
export async function* eachOf<Item>(readPage: (page: PageOptions) => Promise<Page<Item>>): AsyncGenerator<Item, void> {
  for (let next: PageOptions | undefined = { limit: perPage }; next !== undefined; ) {
    const { items, cursor }: Page<Item> = await readPage(next);
    yield* items;
    next = cursor === null ? undefined : { limit: perPage, cursor };
  }
}
