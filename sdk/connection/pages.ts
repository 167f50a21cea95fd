/** A server ends a page after about half a MiB of JSON. The message that no longer fits is shorter than the rest of that. */
const surelyWholeLength = 50_000;

/** Whether nothing comes after a page of at most `limit` messages. */
export const isLastPage = (page: readonly unknown[], limit: number): boolean =>
  page.length < limit && (page.length === 0 || JSON.stringify(page).length < surelyWholeLength);
