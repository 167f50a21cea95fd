import { eventNameOf } from "../../contract/connections/event-names.ts";
import type { FeedFilter } from "../../contract/connections/feed.ts";
import { HeraldError, rateLimited, unavailable } from "../../contract/errors/errors.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import { createOwner, type Owner, onAbort } from "../../lib/owner.ts";
import { createCounters } from "../../lib/rates/counters.ts";
import type { FeedStarts, FeedWish } from "../../services/feeds.ts";
import { threadCosts } from "../../services/limits/costs.ts";
import type { LineParts } from "../connections/line-parts.ts";
import { contentOf, type EventFacts, isAddressed, sessionEndOf } from "../fanout/event-facts.ts";
import { toNobody } from "../fanout/played.ts";
import type { FeedListener, Topics } from "../fanout/topics.ts";
import type { Sequencer } from "../log/sequencer.ts";
import type { Sequencers } from "../log/sequencers.ts";
import { type EventStream, openEventStream } from "./event-stream.ts";
import type { StreamFrames } from "./stream-frames.ts";

const startsTried = 5;
const permitEveryMs = 1000;
const retryAfterSeconds = 5;

type Dependencies = LineParts & {
  sequencers: Sequencers;
  topics: Pick<Topics, "feeds">;
  feedStarts: FeedStarts;
  frames: Pick<StreamFrames, "forFeeds">;
  facts: Pick<EventFacts, "follow" | "systemOf" | "readOf">;
};

/** Decides for each event of a log, taken in order, whether a feed shows it. */
type EventFilter = (event: LogEvent) => boolean;

type Feed = { stream: EventStream; permit: FeedWish["permit"]; isAsking: boolean };

/** Creates the feeds of this node, which receive every event that its sequencers play. */
export function createFeeds(dependencies: Dependencies) {
  const { sequencers, topics, feedStarts, frames, facts } = dependencies;
  const { register, quotas, heartbeats, thread, limits, onError } = dependencies;
  const perOrganization = createCounters(limits.feedsPerOrganization);

  /**
   * Creates a filter that is up to date with the sequencer: the ring covers everything since the snapshot, or a newer
   * snapshot is taken.
   */
  async function beginFilter(sequencer: Sequencer, { org, filter }: FeedWish): Promise<EventFilter> {
    for (let tried = 0; tried < startsTried; tried++) {
      const { head, headId, cids } = await feedStarts.find(org, filter.uid);
      await sequencer.reached(head, headId);
      const played = sequencer.playedAfter(head);
      if (played === undefined) continue;
      if (played.some(endsOrganization)) throw errorAbout("organization_not_found", { organization: org });
      const shows = createEventFilter(filter, cids, facts);
      for (const event of played) shows(event);
      return shows;
    }
    throw unavailable({ detail: "the organization's log is too busy to start the feed now; try again" });
  }

  /** Ends a feed whose caller has lost its permission, or whose permission cannot be determined. */
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

  async function begin(wish: FeedWish, owner: Owner): Promise<ReadableStream<Uint8Array>> {
    const { org, filter, address, permit } = wish;
    register.requireOpen();
    quotas.takeForAddress(owner, networkOf(address));
    if (!perOrganization.take(org)) throw tooMany(limits.feedsPerOrganization);
    owner.hold(() => perOrganization.release(org));
    await thread.turn(org, threadCosts.connect, { owner });
    await feedStarts.find(org, filter.uid); // first, so that no sequencer starts for an organization that does not exist
    const sequencer = await sequencers.acquire(org);
    owner.hold(() => sequencers.release(sequencer));
    const shows = await beginFilter(sequencer, wish);
    register.requireOpen();
    if (sequencer.isOver) throw unavailable({ detail: "the organization's log was rolled back; try again" });
    const stream = openEventStream(dependencies, "feed", { owner, org, onEnd: wish.onEnd });
    const listener = listenerOf(stream, shows);
    topics.feeds.add(org, listener);
    owner.hold(() => topics.feeds.remove(org, listener));
    const feed: Feed = { stream, permit, isAsking: false };
    heartbeats.repeat(owner, permitEveryMs, () => void askAgain(feed));
    stream.comment(); // makes the response begin now
    return stream.body;
  }

  function listenerOf(stream: EventStream, shows: EventFilter): FeedListener {
    return {
      hear(event) {
        if (endsOrganization(event)) stream.end();
        if (!shows(event)) return toNobody;
        stream.push(frames.forFeeds(event), contentOf(event));
        return { connections: 1, isSlow: stream.isSlow };
      },
      end: stream.end,
    };
  }

  return {
    async open(wish: FeedWish): Promise<ReadableStream<Uint8Array>> {
      const owner = createOwner(onError);
      onAbort(wish.signal, () => owner.close()); // before anything is taken
      try {
        return await begin(wish, owner);
      } catch (error) {
        owner.close();
        throw error;
      }
    },
    /** Ends an organization's feeds, so that their callers reconnect. */
    endOrganization(org: string): void {
      for (const feed of [...(topics.feeds.of(org) ?? [])]) feed.end();
    },
  };
}

function tooMany(quota: number): HeraldError {
  const detail = `this organization already has ${quota} live feeds on this node; close one, then try again`;
  return rateLimited({ detail, policy: "feeds-per-organization", quota, retryAfterSeconds });
}

function endsOrganization(event: LogEvent): boolean {
  return event.kind === "session" && sessionEndOf(event).uids === undefined;
}

/**
 * Creates a filter that follows the user's conversations, starting from `cids`; it must be given the membership events,
 * too.
 */
function createEventFilter(
  { kind, cid, uid }: FeedFilter,
  cids: readonly string[],
  facts: Pick<EventFacts, "follow" | "systemOf" | "readOf">,
): EventFilter {
  const joined = new Set(cids);

  return (event) => {
    if (event.kind === "membership" && uid !== undefined) facts.follow(event, uid, joined);
    const name = eventNameOf(event.kind);
    if (name === undefined || (kind !== undefined && kind !== name)) return false;
    if (event.kind === "system_read")
      return cid === undefined && (uid === undefined || event.uids?.includes(uid) === true);
    if (event.kind === "read") {
      const { reader, author, cid: ofRead } = facts.readOf(event);
      return (cid === undefined || cid === ofRead) && (uid === undefined || uid === reader || uid === author);
    }
    if (cid !== undefined && event.cid !== cid) return false;
    if (uid === undefined) return true;
    // The sender of a message, and who edits it or takes it back, takes part in its conversation; the sender of a system
    // message need not be among its recipients.
    if (event.kind !== "system" && event.kind !== "system_recall") return joined.has(event.cid ?? "");
    const { sender, recipients } = facts.systemOf(event);
    return sender === uid || isAddressed(event, joined, () => recipients.has(uid));
  };
}
