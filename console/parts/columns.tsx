import type { DirectoryEntry, User } from "../../sdk/types.ts";
import type { Presences } from "../state/online.ts";
import { compareNumbers, compareTexts, compareTimes } from "../state/order.ts";
import { Badge, OnlineBadge } from "./badge.tsx";
import type { Column } from "./table.tsx";
import { Time, TimeOrNever } from "./time.tsx";

const timeWidth = "9.75rem";

/** Compares ids as the server does. */
export function compareIds({ id }: { id: string }, other: { id: string }): number {
  return id === other.id ? 0 : id < other.id ? -1 : 1;
}

/** The id of an item, which leads to its page. */
export function idColumn<Item extends { id: string }>(hrefOf: (id: string) => string): Column<Item> {
  return {
    title: "Id",
    width: "minmax(0, 2fr)",
    isHeader: true,
    compare: compareIds,
    cell: ({ id }) => (
      <a class="row-page mono" href={hrefOf(id)}>
        {id}
      </a>
    ),
  };
}

/** The name of an item, if it has one, and whether it is blocked; its id decides the order otherwise. */
export function nameColumn<Item extends Pick<User, "id" | "name" | "blocked">>(): Column<Item> {
  return {
    title: "Name",
    width: "minmax(0, 3fr)",
    compare: (left, right) => compareTexts(left.name ?? left.id, right.name ?? right.id),
    cell: ({ name, blocked = false }) =>
      blocked ? (
        <>
          <Badge tone="bad">blocked</Badge> {name}
        </>
      ) : (
        name
      ),
  };
}

/** Times of items, the latest first. One that is missing was never; with `isAhead`, it never comes, and the earliest is first. */
export function timeColumn<Item>(
  title: string,
  timeOf: (item: Item) => string | null,
  { isAhead = false }: { isAhead?: boolean } = {},
): Column<Item> {
  const missing = isAhead ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return {
    title,
    width: timeWidth,
    isTold: true,
    ...(!isAhead && { isLargestFirst: true }),
    compare: (left, right) => compareTimes(timeOf(left), timeOf(right), missing),
    cell: (item) => <TimeOrNever at={timeOf(item)} />,
  };
}

/** Since when an item is there. */
export function createdColumn<Item extends Pick<DirectoryEntry, "created_at">>(): Column<Item> {
  return timeColumn("Created", ({ created_at }) => created_at);
}

/** Whether users are online, and otherwise when they were last seen; `isKnownOfAll` says whether it can be compared. */
export function seenColumn<Item extends { id: string }>(presences: Presences, isKnownOfAll: boolean): Column<Item> {
  const seenAt = (id: string) => {
    const { connections = 0, last_seen = null } = presences.get(id) ?? {};
    return connections > 0 ? Number.POSITIVE_INFINITY : last_seen === null ? 0 : Date.parse(last_seen);
  };
  return {
    title: "Last seen",
    width: timeWidth,
    isTold: true,
    isLargestFirst: true,
    ...(isKnownOfAll && {
      compare: (left, right) => compareNumbers(seenAt(left.id), seenAt(right.id)),
      reads: presences,
    }),
    cell: ({ id }) => {
      const { connections, last_seen = null } = presences.get(id) ?? {};
      return connections === 0 && last_seen !== null ? (
        <Time at={last_seen} />
      ) : (
        <OnlineBadge connections={connections} />
      );
    },
  };
}
