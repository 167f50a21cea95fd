/** The longest beginning of a list, of at least one item, that weighs at most `most` together. */
export function firstWithin<Item>(items: readonly Item[], weightOf: (item: Item) => number, most: number): Item[] {
  let weight = 0;
  const end = items.findIndex((item, index) => {
    weight += weightOf(item);
    return weight > most && index > 0;
  });
  return items.slice(0, end === -1 ? items.length : end);
}
