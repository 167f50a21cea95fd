import type { ComponentChildren } from "preact";
import { type LongRows, useLongRows } from "../state/use-long-rows.ts";

type Props<Item extends { id: string }> = LongRows<Item> & { children: (item: Item) => ComponentChildren };

/** A list of which only what is on the screen is rendered. The page scrolls it. */
export function LongList<Item extends { id: string }>({ children, ...list }: Props<Item>) {
  const { label, items, hasMore } = list;
  const { ofList, rows } = useLongRows<Item, HTMLOListElement>(list);
  return (
    <ol class="rows long" aria-label={label} {...ofList}>
      {rows.map(({ item, index, ofRow }) => (
        <li key={item.id} {...ofRow} aria-posinset={index + 1} aria-setsize={hasMore ? -1 : items.length}>
          {children(item)}
        </li>
      ))}
    </ol>
  );
}
