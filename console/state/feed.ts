import type { AdminClient } from "../../sdk/admin/admin.ts";
import type { FeedEvent } from "../../sdk/admin/feed.ts";
import { HeraldApiError } from "../../sdk/errors.ts";
import type { FeedFilter } from "../../sdk/types.ts";
import { createFrame } from "./frame.ts";
import { createGrowing } from "./growing.ts";
import { type Break, type Entry, hear } from "./heard.ts";

/** The state of the feed. `lost`: it retries and then goes on where it was, or with what comes. `ended`: it does not retry. */
export type FeedStanding = { is: "connecting" | "open" } | { is: "lost" | "ended"; error: unknown };

/** The last received events and breaks, newest last, and the total number of events. */
export type Feed = {
  standing(): FeedStanding;
  heard(): readonly Entry[];
  count(): number;
  clear(): void;
  stop(): void;
};

type FeedOptions = {
  client: AdminClient;
  org: string;
  filter: FeedFilter;
  /** Called at most ten times a second when events have arrived or the state has changed. */
  onChange: () => void;
};

const kept = 1_000;
const slack = 250; // so that the oldest are dropped in batches, not at each event
const silentMs = 40_000; // a heartbeat comes every 25 s

/** What a feed of messages needs besides, to tell when a message is complete. */
const withMessages = ["message", "message_append", "message_delete"] as const;

/** The filter as the server gets it. */
function askFor({ kind, ...rest }: FeedFilter): FeedFilter {
  return kind === "message" ? { ...rest, types: [...withMessages] } : { ...rest, ...(kind !== undefined && { kind }) };
}

/** Follows an organization's events until stopped. */
export function followEvents({ client, org, filter, onChange }: FeedOptions): Feed {
  const ending = new AbortController();
  let standing: FeedStanding = { is: "connecting" };
  let heard: Entry[] = [];
  let count = 0;
  let number = 0;
  let lost: Pick<Break, "lostAt" | "isWhole"> | undefined;
  const frame = createFrame(onChange);
  const growing = createGrowing();

  const turn = (next: FeedStanding) => {
    standing = next;
    frame.ask();
  };

  function keep(entry: Entry): void {
    heard.push(entry);
    if (heard.length > kept + slack) heard = heard.slice(-kept);
  }

  /** Adds an event, or a piece to the message that it belongs to. */
  function add(event: FeedEvent): void {
    frame.ask();
    if (growing.apply(heard, event)) return;
    if (filter.kind === "message" && !("message" in event)) return;
    count++;
    const one = hear(event, { number: ++number, heardAt: Date.now() });
    keep(one);
    growing.begin(one);
  }

  function lose(error: unknown, isWhole: boolean): void {
    lost = { lostAt: lost?.lostAt ?? Date.now(), isWhole };
    if (!isWhole) growing.forget(heard);
    turn({ is: "lost", error });
  }

  function open(): void {
    if (lost !== undefined) keep({ kind: "break", number: ++number, heardAt: Date.now(), ...lost });
    lost = undefined;
    turn({ is: "open" });
  }

  async function listen(): Promise<void> {
    const events = client.events(org, {
      ...askFor(filter),
      signal: ending.signal,
      silentMs,
      onStateChange: (state, { error }) => (state === "connected" ? open() : lose(error, canGoOn())),
    });
    /** Of a user, the server does not know what came meanwhile; nor of a feed that was lost before it said where it is. */
    const canGoOn = () => filter.uid === undefined && events.cursor !== undefined;
    for await (const event of events) add(event);
  }

  /** Listens on from now where the server no longer has all that came meanwhile. */
  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        return await listen();
      } catch (error) {
        if (!(error instanceof HeraldApiError) || error.code !== "cursor_too_old") throw error;
        lose(error, false);
      }
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
