import type { AdminClient } from "../../sdk/admin/admin.ts";
import type { FeedFilter, Message, SystemMessage } from "../../sdk/types.ts";

/** What was heard: a conversation's message or a system message. `number` counts what this feed heard, from 1. */
export type Heard = { number: number; heardAt: number } & (
  | { kind: "message"; message: Message }
  | { kind: "system_message"; message: SystemMessage }
);

/** How the feed stands. `lost`: it tries again by itself; what is delivered meanwhile is not shown. `ended`: it does not. */
export type FeedStanding = { is: "connecting" | "open" } | { is: "lost" | "ended"; error: unknown };

/** The last events that were heard, the newest last, and how many there were in all. */
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
  /** Something came or changed. Called once for whatever came since the last frame of the screen. */
  onChange: () => void;
};

const kept = 1_000;
const slack = 250; // so that the oldest are cut off now and then, not at each event

/** Follows an organization's events until it is stopped. */
export function followEvents({ client, org, filter, onChange }: FeedOptions): Feed {
  const ending = new AbortController();
  let standing: FeedStanding = { is: "connecting" };
  let heard: Heard[] = [];
  let count = 0;
  let frame: number | undefined;

  // One look at the screen for however many events came meanwhile. A hidden tab gets no frames, and needs none.
  const change = () => {
    frame ??= requestAnimationFrame(() => {
      frame = undefined;
      onChange();
    });
  };
  const turn = (next: FeedStanding) => {
    standing = next;
    change();
  };

  async function follow(): Promise<void> {
    const events = client.events(org, {
      ...filter,
      signal: ending.signal,
      onStateChange: (state, { error }) => turn(state === "connected" ? { is: "open" } : { is: "lost", error }),
    });
    for await (const event of events) {
      const what = { number: ++count, heardAt: Date.now() };
      if ("message" in event) heard.push({ ...what, kind: "message", message: event.message });
      else heard.push({ ...what, kind: "system_message", message: event.system_message });
      if (heard.length > kept + slack) heard = heard.slice(-kept);
      change();
    }
  }
  follow().catch((error: unknown) => turn({ is: "ended", error }));

  return {
    standing: () => standing,
    heard: () => heard,
    count: () => count,
    clear() {
      heard = [];
      change();
    },
    stop() {
      ending.abort();
      if (frame !== undefined) cancelAnimationFrame(frame);
    },
  };
}
