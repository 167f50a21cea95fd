import type { ComponentChildren } from "preact";
import type { Paged } from "../state/loading.ts";
import type { Ordering, Sortable } from "../state/order.ts";
import { type LongRows, useLongRows } from "../state/use-long-rows.ts";
import { Loaded, More } from "./states.tsx";

/** A column of a table. */
export type Column<Item> = Sortable<Item> & {
  /** How wide it is: a track of a grid. Where the table is narrow, the cells of a row follow each other. */
  width: string;
  cell: (item: Item) => ComponentChildren;
  /** Whether its cells name their rows. */
  isHeader?: true;
  /** Whether the title stands before the content where the table is narrow. */
  isTold?: true;
  /** Whether it has buttons. */
  isForButtons?: true;
};

type Props<Item extends { id: string }> = Omit<LongRows<Item>, "items" | "rowHeight" | "hasMore" | "onEnd"> & {
  list: Paged<Item>;
  ordering: Ordering<Item>;
  columns: readonly Column<Item>[];
  /** What stands in place of a table without rows. */
  empty: ComponentChildren;
  /** Whether more is read when the reader comes to the end, and not only on request. */
  goesOn?: boolean;
};

const rowHeight = 30;

/** A list as a table of one line for each row, once it is loaded. Only what is on the screen is rendered. */
export function LoadedTable<Item extends { id: string }>({ list, empty, goesOn = false, ...table }: Props<Item>) {
  return (
    <Loaded loading={list} what={table.label.toLowerCase()}>
      {(items) =>
        items.length === 0 ? (
          empty
        ) : (
          <>
            <Table {...table} hasMore={list.hasMore} {...(goesOn && { onEnd: list.more })} />
            <More {...list} />
          </>
        )
      }
    </Loaded>
  );
}

type TableProps<Item extends { id: string }> = Omit<Props<Item>, "list" | "empty" | "goesOn"> &
  Pick<LongRows<Item>, "hasMore" | "onEnd">;

function Table<Item extends { id: string }>({ ordering, columns, ...list }: TableProps<Item>) {
  const { items } = ordering;
  const { label, hasMore } = list;
  const { ofList, rows } = useLongRows<Item, HTMLTableSectionElement>({ ...list, items, rowHeight });
  return (
    <div class="table">
      <table
        aria-label={label}
        aria-rowcount={hasMore ? -1 : items.length + 1}
        style={{ "--columns": columns.map(({ width }) => width).join(" ") }}
      >
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <Title key={column.title} column={column} ordering={ordering} />
            ))}
          </tr>
        </thead>
        <tbody {...ofList}>
          {rows.map(({ item, index, ofRow }) => (
            <tr key={item.id} {...ofRow} aria-rowindex={index + 2}>
              {columns.map((column) => (
                <Cell key={column.title} column={column} item={item} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type TitleProps<Item> = { column: Column<Item>; ordering: Ordering<Item> };

function Title<Item>({ column: { title, compare }, ordering: { by, direction, choose } }: TitleProps<Item>) {
  const isBy = by === title;
  const arrow = (
    <span class="arrow" aria-hidden="true">
      {isBy && (direction === "ascending" ? "↑" : "↓")}
    </span>
  );
  return (
    <th scope="col" {...(isBy && { "aria-sort": direction })}>
      {choose !== undefined && compare !== undefined ? (
        <button type="button" class="sort" onClick={() => choose(title)}>
          {title}
          {arrow}
        </button>
      ) : (
        <>
          {title}
          {arrow}
        </>
      )}
    </th>
  );
}

function Cell<Item>({ column, item }: { column: Column<Item>; item: Item }) {
  const { title, cell, isHeader, isTold, isForButtons } = column;
  if (isHeader === true) return <th scope="row">{cell(item)}</th>;
  return (
    <td {...(isTold === true && { "data-title": title })} {...(isForButtons === true && { class: "buttons" })}>
      {cell(item)}
    </td>
  );
}
