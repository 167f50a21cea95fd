import { HeraldError, invalidRequest, rateLimited, unavailable } from "../../contract/errors/errors.ts";
import { hasExpired, type LogEvent } from "../../contract/log/log-event.ts";
import type { LogPlace } from "../../contract/log/log-place.ts";
import { blankedPayload } from "../../contract/messages/changes.ts";
import { networkOf } from "../../lib/network/addresses.ts";
import { createOwner, type Owner, onAbort } from "../../lib/owner.ts";
import { createCounters } from "../../lib/rates/counters.ts";
import type { FeedQuery, FeedStarts, Feeds, FeedWish } from "../../services/feeds.ts";
import { requestCosts, threadCosts } from "../../services/limits/costs.ts";
import type { LineParts } from "../connections/line-parts.ts";
import { bytesOf, type PageTurns, pageBytes } from "../connections/page-turns.ts";
import { contentOf, type EventFacts, sessionEndOf, textIn } from "../fanout/event-facts.ts";
import { type Played, toNobody } from "../fanout/played.ts";
import type { FeedListener, Topics } from "../fanout/topics.ts";
import type { Sequencer } from "../log/sequencer.ts";
import type { FeedLog, Sequencers } from "../log/sequencers.ts";
import { type EventStream, openEventStream } from "./event-stream.ts";
import { createEventFilter, type EventFilter } from "./feed-filter.ts";
import { createFeedPages } from "./feed-pages.ts";
import { blankFeedFrame, encodePlace, type StreamFrames } from "./stream-frames.ts";

const permitEveryMs = 1000;
const retryAfterSeconds = 5;
const ofPast =
  "cannot be combined with `after`, as who took part back then is not kept; leave one of them out, or read the user's deliveries";
const pageSize = 500;

type Dependencies = LineParts & {
  sequencers: Sequencers;
  log: Pick<FeedLog, "readShown">;
  pageTurns: PageTurns;
  topics: Pick<Topics, "feeds">;
  feedStarts: FeedStarts;
  frames: Pick<StreamFrames, "forFeeds">;
  facts: Pick<EventFacts, "follow" | "systemOf" | "readOf">;
};

/** A feed, and the place up to which it has shown its log. */
type Feed = {
  stream: EventStream;
  sequencer: Sequencer;
  shows: EventFilter;
  permit: FeedWish["permit"];
  pay: FeedWish["pay"];
  place: LogPlace;
  isAsking: boolean;
};

/** Creates the feeds of this node: they read the log up to what its sequencers have played, then receive every event played. */
export function createFeeds(dependencies: Dependencies) {
  const { sequencers, log, pageTurns, topics, feedStarts, frames, facts } = dependencies;
  const { register, quotas, heartbeats, thread, limits, databaseClock, onError } = dependencies;
  const perOrganization = createCounters(limits.feedsPerOrganization);

  /** Ends a feed whose caller has lost its permission, or whose permission cannot be determined. */
  async function askAgain(feed: Feed): Promise<void> {
    if (feed.isAsking) return;
    feed.isAsking = true;
    try {
      await feed.permit();
      feed.isAsking = false;
    } catch (error) {
      endFailed(feed, error);
    }
  }

  function endFailed({ stream }: Feed, error: unknown): void {
    if (!(error instanceof HeraldError)) onError(error);
    stream.end();
  }

  function show(feed: Feed, event: LogEvent): Played {
    const { stream, shows } = feed;
    feed.place = event;
    if (endsOrganization(event)) stream.end();
    if (!shows(event)) return toNobody;
    stream.push(frames.forFeeds(event), contentOf(event));
    return { connections: 1, isSlow: stream.isSlow };
  }

  /** Without its text if that was recalled since it was read, or has expired. */
  function asOfNow(event: LogEvent, { hasRecalled }: Sequencer): LogEvent {
    const isGone = hasRecalled(textIn(event)) || hasExpired(event, databaseClock.now());
    if (!isGone) return event;
    const payload = blankedPayload(event.payload);
    return payload === undefined ? { ...event, kind: "blank" } : { ...event, payload, expiresAt: undefined };
  }

  /** Events that were blanked since they were played must be read again, as only the store knows what they were. */
  function isUnchanged(event: LogEvent): boolean {
    return event.kind !== "blank" && !hasExpired(event, databaseClock.now());
  }

  /** Shows what the sequencer has played, from the store or from its memory; then, in the same turn, listens. */
  async function catchUp(feed: Feed, org: string): Promise<void> {
    const { stream, sequencer } = feed;
    while (await stream.isReadyForMore()) {
      if (sequencer.isOver) return stream.end();
      const played = sequencer.playedAfter(feed.place.offset);
      if (played !== undefined && bytesOf(played) <= pageBytes && played.every(isUnchanged)) {
        for (const event of played) show(feed, event);
        if (stream.isOpen) listen(feed, org);
        return;
      }
      let cost = 0;
      const upTo = sequencer.position; // taken before the read, so that the read includes everything up to it
      await pageTurns.turnPage(
        stream,
        sequencer,
        () => log.readShown(org, feed.place.offset, pageSize, pageBytes),
        (read) => {
          const page = read.filter(({ offset }) => offset <= upTo);
          for (const event of page) show(feed, asOfNow(event, sequencer));
          if (page.length === 0) feed.place = { offset: upTo, id: undefined }; // the rest was purged
          stream.push(encodePlace(feed.place));
          cost = requestCosts.replay(read.length, bytesOf(read));
        },
      );
      await feed.pay(cost);
    }
  }

  function catchUpOrEnd(feed: Feed, org: string): void {
    catchUp(feed, org).catch((error) => endFailed(feed, error));
  }

  /** Shows what is played. What was blank by then, or had expired and was not played, is read from the store. */
  function listen(feed: Feed, org: string): void {
    const { stream } = feed;
    const listener: FeedListener = {
      hear(event) {
        if (event.kind !== "blank" && event.offset === feed.place.offset + 1) return show(feed, event);
        letGo();
        topics.feeds.remove(org, listener);
        catchUpOrEnd(feed, org);
        return toNobody;
      },
      end: stream.end,
    };
    topics.feeds.add(org, listener);
    const letGo = stream.owner.hold(() => topics.feeds.remove(org, listener));
  }

  /** Where the feed starts; refuses an organization that does not exist before a sequencer starts for it. */
  async function startOf({ org, filter, after }: FeedQuery): Promise<{ place: LogPlace; cids: string[] }> {
    if (after === undefined) return await feedStarts.now(org, filter.uid);
    return { place: await feedStarts.resume(org, after), cids: [] };
  }

  async function begin(wish: FeedWish, owner: Owner): Promise<ReadableStream<Uint8Array>> {
    const { org, filter, address, permit, pay, onEnd } = wish;
    register.requireOpen();
    quotas.takeForAddress(owner, networkOf(address));
    if (!perOrganization.take(org)) throw tooMany(limits.feedsPerOrganization);
    owner.hold(() => perOrganization.release(org));
    await thread.turn(org, threadCosts.connect, { owner });
    const { place, cids } = await startOf(wish);
    const sequencer = await sequencers.acquire(org);
    owner.hold(() => sequencers.release(sequencer));
    await sequencer.reached(place.offset, place.id);
    register.requireOpen();
    if (sequencer.isOver) throw unavailable({ detail: "the organization's log was rolled back; try again" });
    const feed: Feed = {
      stream: openEventStream(dependencies, "feed", {
        owner,
        org,
        onEnd,
        beat: () => encodePlace(feed.place),
        blank: blankFeedFrame,
      }),
      sequencer,
      shows: createEventFilter(filter, cids, facts),
      permit,
      pay,
      place,
      isAsking: false,
    };
    const { stream } = feed;
    heartbeats.repeat(owner, permitEveryMs, () => void askAgain(feed));
    stream.push(encodePlace(place)); // makes the response begin now
    catchUpOrEnd(feed, org);
    return stream.body;
  }

  return {
    async open(wish) {
      requireLive(wish);
      const owner = createOwner(onError);
      onAbort(wish.signal, () => owner.close()); // before anything is taken
      try {
        return await begin(wish, owner);
      } catch (error) {
        owner.close();
        throw error;
      }
    },
    page: createFeedPages(dependencies),
    /** Ends an organization's feeds, so that their callers reconnect. */
    endOrganization(org: string): void {
      for (const feed of [...(topics.feeds.of(org) ?? [])]) feed.end();
    },
  } satisfies Feeds & { endOrganization(org: string): void };
}

function tooMany(quota: number): HeraldError {
  const detail = `this organization already has ${quota} live feeds on this node; close one, then try again`;
  return rateLimited({ detail, policy: "feeds-per-organization", quota, retryAfterSeconds });
}

function requireLive({ filter, after }: FeedQuery): void {
  if (filter.uid !== undefined && after !== undefined) throw invalidRequest("/uid", ofPast, `\`uid\` ${ofPast}`);
}

function endsOrganization(event: LogEvent): boolean {
  return event.kind === "session" && sessionEndOf(event).uids === undefined;
}
