import type { AdminClient } from "../../../sdk/admin/admin.ts";
import type { FeedEvent } from "../../../sdk/admin/feed.ts";
import type { FeedStanding } from "../feed.ts";
import { createFrame } from "../frame.ts";
import { readOn } from "../loading.ts";
import { type Older, type Thread, threadOf, withAtMost, withEvent, withOlder } from "./thread.ts";

/** The state of a followed conversation. `arrived` counts the messages that came while it was followed. */
export type Followed = {
  thread: Thread | undefined;
  isLoading: boolean;
  /** Why the last read failed. */
  error: unknown;
  /** The state of the feed; `undefined` if the conversation is only read. */
  standing: FeedStanding | undefined;
  arrived: number;
};

/** A conversation that is read, and followed until it is stopped. */
export type ThreadFeed = {
  state(): Followed;
  /** Reads what is shown again. */
  reload(): void;
  /** Reads the next older messages. */
  more(): void;
  stop(): void;
};

type Options = {
  client: AdminClient;
  org: string;
  cid: string;
  /** Whether the key may follow the feed. */
  isLive: boolean;
  /** How many messages are read at first, if more than usual. */
  atFirst: number;
  /** Called at most ten times a second when something has changed. */
  onChange: () => void;
};

const pageSize = 25;
const mostRead = 1_000; // the largest page that the server returns
const roomAtFirst = 300;
const patienceMs = 1_000;

/**
 * Reads the newest messages of a conversation, and applies what the feed brings. Reads again whenever the feed has connected, because
 * it omits what came before.
 */
export function followThread({ client, org, cid, isLive, atFirst, onChange }: Options): ThreadFeed {
  const ending = new AbortController();
  const frame = createFrame(onChange);
  let state: Followed = {
    thread: undefined,
    isLoading: false,
    error: undefined,
    standing: isLive ? { is: "connecting" } : undefined,
    arrived: 0,
  };
  let turn = 0;
  let room = Math.max(roomAtFirst, atFirst);
  // What has arrived since the current read began, which its answer may not contain.
  let meanwhile: FeedEvent[] = [];

  const set = (change: Partial<Followed>) => {
    state = { ...state, ...change };
    frame.ask();
  };

  async function read(limit: number, older: Older | undefined, join: (page: Page) => Thread): Promise<void> {
    const mine = ++turn;
    meanwhile = [];
    set({ isLoading: true, error: undefined });
    const before = older !== undefined && "before" in older ? { before: older.before } : {};
    const cursor = older !== undefined && "cursor" in older ? older.cursor : undefined;
    try {
      const page = await readOn(
        (at) => client.listMessages(org, cid, { limit, ...before, ...(at !== undefined && { cursor: at }) }),
        cursor,
      );
      if (mine === turn) set({ thread: meanwhile.reduce(withEvent, join(page)), isLoading: false });
    } catch (error) {
      if (mine === turn) set({ error, isLoading: false });
    }
  }
  const reload = () =>
    void read(Math.min(mostRead, Math.max(pageSize, state.thread?.entries.length ?? atFirst)), undefined, threadOf);

  function apply(event: FeedEvent): void {
    if (state.isLoading) meanwhile.push(event);
    const { thread, arrived } = state;
    if (thread === undefined) return;
    const next = withEvent(thread, event);
    if (next === thread) return;
    set({ thread: withAtMost(next, room), arrived: "message" in event ? arrived + 1 : arrived });
  }

  async function follow(): Promise<void> {
    const events = client.events(org, {
      cid,
      signal: ending.signal,
      onStateChange(next, { error }) {
        set({ standing: next === "connected" ? { is: "open" } : { is: "lost", error } });
        if (next === "connected") reload();
      },
    });
    for await (const event of events) apply(event);
  }

  // The history does not wait for a feed that cannot connect.
  const readAnyway = () => {
    if (state.thread === undefined && !state.isLoading) reload();
  };
  const patience = setTimeout(readAnyway, isLive ? patienceMs : 0);
  if (isLive) follow().catch((error: unknown) => set({ standing: { is: "ended", error } }));

  return {
    state: () => state,
    reload,
    more() {
      const { thread } = state;
      if (thread?.older === undefined) return;
      room = Math.max(room, thread.entries.length + pageSize);
      void read(pageSize, thread.older, (page) => withOlder(state.thread ?? thread, page));
    },
    stop() {
      turn++;
      clearTimeout(patience);
      ending.abort();
      frame.cancel();
    },
  };
}

type Page = Awaited<ReturnType<AdminClient["listMessages"]>>;
