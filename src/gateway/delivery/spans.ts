/**
 * Groups items with the same key, in order of place, so that every place in a group is less than `span` behind the
 * first.
 */
export function groupInSpans<Item>(
  items: Iterable<Item>,
  { keyOf, placeOf, span }: { keyOf(item: Item): string; placeOf(item: Item): number; span: number },
): [Item, ...Item[]][] {
  const groups: [Item, ...Item[]][] = [];
  const open = new Map<string, [Item, ...Item[]]>();
  for (const item of [...items].sort((left, right) => placeOf(left) - placeOf(right))) {
    const key = keyOf(item);
    const group = open.get(key);
    if (group !== undefined && placeOf(item) - placeOf(group[0]) < span) {
      group.push(item);
      continue;
    }
    const begun: [Item, ...Item[]] = [item];
    open.set(key, begun);
    groups.push(begun);
  }
  return groups;
}
