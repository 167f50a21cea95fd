import type { FeedEvent } from "../../sdk/admin/feed.ts";
import type { Message } from "../../sdk/types.ts";
import { withPiece } from "../../sdk/views/growth.ts";
import type { Entry, Heard } from "./heard.ts";

/** Keeps track of the messages of a feed that are not complete. `heard` is what is shown, whose numbers increase by one. */
export function createGrowing() {
  /** The number of each open message, by its id. */
  const open = new Map<string, number>();

  const placeOf = (heard: Entry[], id: string) => (open.get(id) ?? Number.NaN) - (heard[0]?.number ?? 0);

  function find(heard: Entry[], id: string): Message | undefined {
    const one = heard[placeOf(heard, id)];
    if (one?.kind === "message") return one.message;
    open.delete(id); // it is not shown any more
    return undefined;
  }

  /** Shows a message as it is now, where it was. */
  function show(heard: Entry[], message: Message): void {
    const place = placeOf(heard, message._id);
    const one = heard[place];
    if (one?.kind === "message") heard[place] = { ...one, message };
    if (!message.open) open.delete(message._id);
  }

  function end(heard: Entry[], id: string): void {
    const message = find(heard, id);
    if (message !== undefined) show(heard, withoutMark(message));
  }

  return {
    /** Notes an event that is shown from now on. */
    begin({ kind, number, message }: Heard): void {
      if (kind === "message" && message.open) open.set(message._id, number);
    },
    /**
     * Changes the message that a piece belongs to, or whose recall ends it. Returns whether the event is then shown: a piece after
     * text that is missing is not, and its message grows no more.
     */
    apply(heard: Entry[], event: FeedEvent): boolean {
      if ("message_delete" in event) for (const id of event.message_delete.ids) end(heard, id);
      if (!("message_append" in event)) return false;
      const message = find(heard, event.message_append.id);
      if (message === undefined) return false;
      const grown = withPiece(message, event.message_append);
      show(heard, grown ?? withoutMark(message));
      return grown !== undefined;
    },
    /** Marks nothing as open any more, as after a break in which pieces may have been missed. */
    forget(heard: Entry[]): void {
      for (const id of [...open.keys()]) end(heard, id);
    },
  };
}

function withoutMark({ open: _, ...message }: Message): Message {
  return message;
}
