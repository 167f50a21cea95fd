import type { ComponentChildren } from "preact";
import { useConsole } from "../state/context.ts";

type Named = { id: string; name: string | null };

type RowsProps<Item extends Named> = {
  /** The page that a row leads to, with the id of its item. */
  page: "users" | "conversations";
  items: Item[];
  /** What a row shows of its item beside the name. */
  aside: (item: Item) => ComponentChildren;
};

/** Users or conversations, each a link to its own page. */
export function Rows<Item extends Named>({ page, items, aside }: RowsProps<Item>) {
  const { link } = useConsole();
  return (
    <ul class="rows">
      {items.map((item) => (
        <li key={item.id}>
          <a class="row-link" href={link(page, item.id)}>
            <span class="row-title">{item.name ?? item.id}</span>
            {item.name !== null && <span class="mono quiet">{item.id}</span>}
            <span class="spacer" />
            {aside(item)}
          </a>
        </li>
      ))}
    </ul>
  );
}
