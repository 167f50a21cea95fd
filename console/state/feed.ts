import type { AdminClient } from "../../sdk/admin/admin.ts";
import type { FeedEvent } from "../../sdk/admin/feed.ts";
import type {
  FeedFilter,
  Message,
  MessageDelete,
  MessageEdit,
  MessageReactionsUpdate,
  MessageRead,
  SystemMessage,
  SystemMessageDelete,
  SystemMessageRead,
} from "../../sdk/types.ts";
import { createFrame } from "./frame.ts";

/** A received event: a message, what happened to one, or a system message. `number` counts the events of this feed, from 1. */
export type Heard = { number: number; heardAt: number } & (
  | { kind: "message"; message: Message }
  | { kind: "system_message"; message: SystemMessage }
  | { kind: "message_edit"; message: MessageEdit }
  | { kind: "message_reactions_update"; message: MessageReactionsUpdate }
  | { kind: "message_delete"; message: MessageDelete }
  | { kind: "system_message_delete"; message: SystemMessageDelete }
  | { kind: "message_read"; message: MessageRead }
  | { kind: "system_message_read"; message: SystemMessageRead }
);

/** The state of the feed. `lost`: it retries and then goes on where it was, but of a user with what comes. `ended`: it does not retry. */
export type FeedStanding = { is: "connecting" | "open" } | { is: "lost" | "ended"; error: unknown };

/** The last received events, newest last, and the total number. */
export type Feed = {
  standing(): FeedStanding;
  heard(): readonly Heard[];
  count(): number;
  clear(): void;
  stop(): void;
};

type FeedOptions = {
  client: AdminClient;
  org: string;
  filter: FeedFilter;
  /** Called at most once per animation frame when events have arrived or the state has changed. */
  onChange: () => void;
};

const kept = 1_000;
const slack = 250; // so that the oldest are dropped in batches, not at each event

function hear(event: FeedEvent, what: { number: number; heardAt: number }): Heard {
  if ("message" in event) return { ...what, kind: "message", message: event.message };
  if ("message_edit" in event) return { ...what, kind: "message_edit", message: event.message_edit };
  if ("message_reactions_update" in event)
    return { ...what, kind: "message_reactions_update", message: event.message_reactions_update };
  if ("message_delete" in event) return { ...what, kind: "message_delete", message: event.message_delete };
  if ("system_message_delete" in event)
    return { ...what, kind: "system_message_delete", message: event.system_message_delete };
  if ("system_message_read" in event)
    return { ...what, kind: "system_message_read", message: event.system_message_read };
  if ("message_read" in event) return { ...what, kind: "message_read", message: event.message_read };
  return { ...what, kind: "system_message", message: event.system_message };
}

/** Follows an organization's events until stopped. */
export function followEvents({ client, org, filter, onChange }: FeedOptions): Feed {
  const ending = new AbortController();
  let standing: FeedStanding = { is: "connecting" };
  let heard: Heard[] = [];
  let count = 0;
  const frame = createFrame(onChange);

  const turn = (next: FeedStanding) => {
    standing = next;
    frame.ask();
  };

  async function follow(): Promise<void> {
    const events = client.events(org, {
      ...filter,
      signal: ending.signal,
      onStateChange: (state, { error }) => turn(state === "connected" ? { is: "open" } : { is: "lost", error }),
    });
    for await (const event of events) {
      heard.push(hear(event, { number: ++count, heardAt: Date.now() }));
      if (heard.length > kept + slack) heard = heard.slice(-kept);
      frame.ask();
    }
  }
  follow().catch((error: unknown) => turn({ is: "ended", error }));

  return {
    standing: () => standing,
    heard: () => heard,
    count: () => count,
    clear() {
      heard = [];
      frame.ask();
    },
    stop() {
      ending.abort();
      frame.cancel();
    },
  };
}
