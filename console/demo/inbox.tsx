import { useEffect, useRef, useState } from "preact/hooks";
import type { InboxItem } from "../../sdk/types.ts";
import { timeOfDay } from "../parts/time.tsx";
import type { Person } from "./demo.ts";
import { explain } from "./explain.ts";
import type { Inbox } from "./use-client.ts";

type BellProps = { person: Person; unread: number; isOpen: boolean; onToggle: () => void };

/** A bell that says how many system messages in the inbox are unread, and opens their list. */
export function Bell({ person, unread, isOpen, onToggle }: BellProps) {
  return (
    <button type="button" class="small bell" aria-expanded={isOpen} onClick={onToggle}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M8 1.5a4 4 0 0 0-4 4c0 3.5-1 4.5-1.75 5.5h11.5C13 10 12 9 12 5.5a4 4 0 0 0-4-4ZM6.5 12.5a1.5 1.5 0 0 0 3 0" />
      </svg>
      {unread > 0 && (
        <span class="count" aria-hidden="true">
          {unread > 99 ? "99+" : unread}
        </span>
      )}
      <span class="visually-hidden">
        Inbox of {person.name}, {unread} unread
      </span>
    </button>
  );
}

type ListProps = { inbox: Inbox; person: Person; people: Person[]; isOnline: boolean };

/** The system messages that are kept for a user, newest first. Those that are shown become seen. */
export function InboxList({ inbox, person, people, isOnline }: ListProps) {
  const { items, hasMore, isLoaded, error, markRead, markSeen, loadMore } = inbox;
  const [fault, setFault] = useState<unknown>();
  const list = useRef<HTMLOListElement>(null);
  const attempt = (act: () => Promise<void>) => {
    setFault(undefined);
    act().catch(setFault);
  };
  const read = (ids?: string[]) => {
    list.current?.focus(); // the button goes
    attempt(() => markRead(ids));
  };
  const hasUnseen = items.some(({ seen_at }) => seen_at === null);
  useEffect(() => {
    if (isOnline && hasUnseen) attempt(() => markSeen());
  }, [isOnline, hasUnseen]);
  const problem = fault ?? error;
  return (
    <div class="inbox">
      {problem !== undefined && (
        <p class="problem" role="alert">
          {explain(problem)}
        </p>
      )}
      {items.length === 0 && (
        <p class="fine">
          {isLoaded
            ? "The inbox is empty. Send a system message that is kept for those who are offline."
            : "The inbox is read as soon as the user is online."}
        </p>
      )}
      {items.length > 0 && (
        <ol
          ref={list}
          aria-label={`Inbox of ${person.name}, newest first`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling regions must be reachable with the keyboard (WCAG 2.1.1)
          tabIndex={0}
        >
          {items.map((item) => (
            <Item
              key={`${item.from} ${item._id}`}
              item={item}
              sender={people.find(({ id }) => id === item.from)?.name ?? item.from}
              onRead={isOnline ? () => read([item._id]) : undefined}
            />
          ))}
        </ol>
      )}
      {isOnline && items.some(({ read_at }) => read_at === null) && (
        <button type="button" class="link" onClick={() => read()}>
          Mark all as read
        </button>
      )}
      {isOnline && hasMore && (
        <button type="button" class="link" onClick={() => attempt(loadMore)}>
          Show more
        </button>
      )}
    </div>
  );
}

/** `onRead` is absent while the user is offline. */
function Item({ item, sender, onRead }: { item: InboxItem; sender: string; onRead: (() => void) | undefined }) {
  const { x, created_at, seen_at, read_at } = item;
  return (
    <li>
      <p class="meta">
        <span>{sender}</span> <time dateTime={created_at}>{timeOfDay(new Date(created_at))}</time>
        <span class={read_at === null && seen_at === null ? "badge accent" : "badge"}>
          {read_at !== null ? "read" : seen_at !== null ? "seen" : "new"}
        </span>
        {read_at === null && onRead !== undefined && (
          <button type="button" class="link" onClick={onRead}>
            Mark as read
          </button>
        )}
      </p>
      <p class="body">{JSON.stringify(x)}</p>
    </li>
  );
}
