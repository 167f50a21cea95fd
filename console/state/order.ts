import { useMemo, useState } from "preact/hooks";
import type { Paged } from "./loading.ts";

/** What a list can be ordered by: a column of its table. */
export type Sortable<Item> = {
  title: string;
  /** Compares two items by what the column shows; a column without it does not sort. */
  compare?: (left: Item, right: Item) => number;
  /** What the comparison reads besides the items, if anything. The list is put in order again when it changes. */
  reads?: unknown;
  /** Whether the first press puts the largest first, such as the newest. */
  isLargestFirst?: true;
};

/** By which column a list is ordered, and which end of it is first. */
export type Order = { by: string; direction: "ascending" | "descending" };

/** The order of a list, and the items in it; `choose` is missing while no order can be chosen. */
export type Ordering<Item> = Order & { items: readonly Item[]; choose?: (by: string) => void };

const alphabet = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Compares texts without regard to case, and numbers in them by their value. */
export function compareTexts(left: string, right: string): number {
  return alphabet.compare(left, right);
}

/** Compares numbers, also infinite ones. */
export function compareNumbers(left: number, right: number): number {
  return left === right ? 0 : left - right;
}

/** Compares times, of which one that is missing counts as `missing`. */
export function compareTimes(left: string | null, right: string | null, missing = Number.NEGATIVE_INFINITY): number {
  const numberOf = (at: string | null) => (at === null ? missing : Date.parse(at));
  return compareNumbers(numberOf(left), numberOf(right));
}

/** Puts items into an order. Those that are equal keep the one they have. */
export function inOrder<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
  direction: Order["direction"],
): readonly Item[] {
  return items.toSorted((left, right) => (direction === "ascending" ? compare(left, right) : compare(right, left)));
}

type Inputs<Item> = {
  list: Pick<Paged<Item>, "value" | "hasMore">;
  columns: readonly Sortable<Item>[];
  /** The column by which the server orders the list, the smallest first, if it does. */
  given?: string;
  /** The column by which the list is ordered at first, if it sorts. */
  first?: string;
};

/**
 * The order of a list, until the reader chooses one by `first` or else the server's. Only the server's while there is more of the
 * list, as no part of it can be put into another order.
 */
export function useOrder<Item>({ list, columns, given = "", first }: Inputs<Item>): Ordering<Item> {
  const [chosen, setChosen] = useState<Order>();
  const items = list.value ?? [];
  const canSort = !list.hasMore && items.length > 1;
  const firstOf = (by: string | undefined): Order | undefined => {
    const column = columns.find(({ title, compare }) => title === by && compare !== undefined);
    if (column === undefined) return undefined;
    return { by: column.title, direction: column.isLargestFirst === true ? "descending" : "ascending" };
  };
  const server: Order = { by: given, direction: "ascending" };
  const wanted = firstOf(chosen?.by) === undefined ? firstOf(first) : chosen;
  const order = canSort && wanted !== undefined ? wanted : server;
  const { compare, reads } = columns.find(({ title }) => title === order.by) ?? {};
  const isServers = order.by === given && order.direction === "ascending";
  const inThat = useMemo(
    () => (isServers || compare === undefined ? items : inOrder(items, compare, order.direction)),
    [list.value, isServers, compare === undefined, order.by, order.direction, reads],
  );
  return {
    ...order,
    items: inThat,
    ...(canSort && {
      choose: (by) =>
        setChosen(
          by === order.by
            ? { by, direction: order.direction === "ascending" ? "descending" : "ascending" }
            : firstOf(by),
        ),
    }),
  };
}
