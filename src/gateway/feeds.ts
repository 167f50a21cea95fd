import { HeraldError, unavailable } from "../contract/errors.ts";
import type { LogEvent, SessionEnd } from "../contract/log-event.ts";
import { networkOf } from "../lib/addresses.ts";
import type { Clock } from "../lib/clock.ts";
import type { Counters } from "../lib/counters.ts";
import { spread } from "../lib/spread.ts";
import type { FeedStarts, Feeds, FeedWish } from "../services/feeds.ts";
import { createEventStream, type EventStream, eventText } from "./event-stream.ts";
import { createEventFilter, type EventFilter } from "./feed-filter.ts";
import { type Listener, tooManyConnections } from "./listeners.ts";
import type { Sequencer } from "./sequencer.ts";
import type { Sequencers } from "./sequencers.ts";

const startsTried = 5;

type Dependencies = {
  sequencers: Sequencers;
  feedStarts: FeedStarts;
  perAddress: Counters;
  limits: { backlogBytes: number; pingMs: number; connectionsPerAddress: number };
  steadyClock: Clock;
  /** Called when a feed is cut while bytes wait for its reader. */
  onCut(): void;
  onError(error: unknown): void;
};

type Feed = { stream: EventStream; shows: EventFilter; permit: FeedWish["permit"]; beatAt: number; isAsking: boolean };

/** The feeds of this node, which hear every event that its sequencers play. */
export function createFeeds(dependencies: Dependencies) {
  const { sequencers, feedStarts, perAddress, limits, steadyClock, onCut, onError } = dependencies;
  const feeds = new Map<string, Set<Feed>>();
  let isClosing = false;

  function* all(): Iterable<Feed> {
    for (const ofOrganization of feeds.values()) yield* ofOrganization;
  }

  function add(org: string, feed: Feed): void {
    const ofOrganization = feeds.get(org) ?? new Set();
    feeds.set(org, ofOrganization.add(feed));
  }

  function remove(org: string, feed: Feed): void {
    const ofOrganization = feeds.get(org);
    ofOrganization?.delete(feed);
    if (ofOrganization?.size === 0) feeds.delete(org);
  }

  /** A filter that is as far as the sequencer is. What it has to follow since the snapshot is in the ring, or a later one is taken. */
  async function beginFilter(sequencer: Sequencer, { org, filter }: FeedWish): Promise<EventFilter> {
    for (let tried = 0; tried < startsTried; tried++) {
      const { head, cids } = await feedStarts.find(org, filter.uid);
      await sequencer.reached(head);
      const played = sequencer.playedAfter(head);
      if (played === undefined) continue;
      if (played.some(endsOrganization)) throw new HeraldError("organization_not_found");
      const shows = createEventFilter(filter, cids);
      for (const event of played) shows(event);
      return shows;
    }
    throw unavailable({ detail: "the organization's log moves too fast to begin now; try again" });
  }

  /** Ends a feed whose caller may not watch any more, or of whom nobody can tell. */
  async function askAgain(feed: Feed): Promise<void> {
    if (feed.isAsking) return;
    feed.isAsking = true;
    try {
      await feed.permit();
      feed.isAsking = false;
    } catch (error) {
      if (!(error instanceof HeraldError)) onError(error);
      feed.stream.end();
    }
  }

  const opening: Feeds = {
    async open(wish) {
      const { org, filter, signal, permit } = wish;
      const address = networkOf(wish.address);
      if (isClosing) throw unavailable({ detail: "this node stops; ask another" });
      await feedStarts.find(org, filter.uid); // before anything is taken for an organization that is not there
      if (!perAddress.take(address)) throw tooManyConnections("address", limits.connectionsPerAddress);
      const held = [() => perAddress.release(address)];
      const stream = createEventStream({
        maxWaitingBytes: limits.backlogBytes,
        onCut,
        onClose() {
          for (const release of held) release();
        },
      });
      try {
        const sequencer = await sequencers.acquire(org);
        held.push(() => sequencers.release(org));
        const shows = await beginFilter(sequencer, wish);
        if (isClosing) throw unavailable({ detail: "this node stops; ask another" });
        const feed: Feed = { stream, shows, permit, beatAt: steadyClock.now(), isAsking: false };
        add(org, feed);
        held.push(() => remove(org, feed));
      } catch (error) {
        stream.cut();
        throw error;
      }
      if (signal.aborted) stream.cut();
      else signal.addEventListener("abort", () => stream.cut());
      stream.comment(); // so that the answer begins now
      return stream.body;
    },
  };

  return {
    ...opening,
    /** Plays an event to the feeds of its organization. True when one of them is slow to take it. */
    play(event: LogEvent): boolean {
      const ofOrganization = feeds.get(event.org);
      if (ofOrganization === undefined) return false;
      const isOver = endsOrganization(event);
      let text: string | undefined;
      let isSlow = false;
      for (const { stream, shows } of ofOrganization) {
        if (isOver) stream.end();
        if (!shows(event)) continue;
        text ??= textOf(event);
        stream.push(text);
        isSlow = stream.isSlow || isSlow;
      }
      return isSlow;
    },
    /** Asks of each feed whether its caller may still watch, and sends a comment to those that were not sent one for a while. Called every second. */
    beat(): void {
      const now = steadyClock.now();
      for (const feed of all()) {
        void askAgain(feed);
        if (now - feed.beatAt < limits.pingMs) continue;
        feed.beatAt = now;
        feed.stream.comment();
      }
    },
    *listeners(): Iterable<Listener> {
      for (const { stream } of all()) yield stream;
    },
    count: () => [...all()].length,
    /** Ends every feed, spread evenly over `spreadMs`, and refuses new ones. */
    async closeAll(spreadMs: number): Promise<void> {
      isClosing = true;
      await spread([...all()], spreadMs, ({ stream }) => stream.end());
    },
  };
}

function endsOrganization({ kind, payload }: LogEvent): boolean {
  if (kind !== "session") return false;
  const end: SessionEnd = JSON.parse(payload);
  return end.uids === undefined;
}

function textOf({ kind, payload }: LogEvent): string {
  const event: Record<string, { _id: string }> = JSON.parse(payload);
  const name = kind === "message" ? "message" : "system_message";
  return eventText(name, event[name]?._id, payload);
}
