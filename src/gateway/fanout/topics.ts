import type { LogEvent } from "../../contract/log/log-event.ts";
import { createGuard } from "../../lib/observing/guard.ts";
import { createSetsByKey } from "../../lib/sets-by-key.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { StreamFrames } from "../streams/stream-frames.ts";
import { contentOf, type FrameContent } from "./event-facts.ts";
import { type Played, together, toNobody } from "./played.ts";

/**
 * A server-sent event stream, which Bun's native topics do not reach. `deliver` takes a frame with what it holds, and returns
 * true if the stream is slow to take it.
 */
export type StreamListener = { deliver(frame: Uint8Array, content: FrameContent): boolean };

/** A feed. It receives every event of its organization and shows those that its filter selects. */
export type FeedListener = { hear(event: LogEvent): Played; end(): void };

/** The topic of a conversation. */
export function conversationTopic(org: string, cid: string): string {
  return joinIds("c", org, cid);
}

/** The topic of a user. */
export function userTopic(org: string, uid: string): string {
  return joinIds("u", org, uid);
}

/** The topic of all users of an organization. */
export function organizationTopic(org: string): string {
  return joinIds("o", org);
}

type Dependencies = {
  frames: Pick<StreamFrames, "forUsers">;
  /** Called with the number of streams that an event was handed to. */
  onDelivery(event: LogEvent, connections: number): void;
  /** Called with what a stream throws; the other listeners still get the event. */
  onError(error: unknown): void;
};

/**
 * Creates what publishes frames to streams and feeds: one topic per conversation, one per user and one per organization.
 * `socket-topics.ts` does that for WebSockets.
 */
export function createTopics({ frames, onDelivery, onError }: Dependencies) {
  const guard = createGuard(onError);
  const streams = createSetsByKey<string, StreamListener>();
  const feeds = createSetsByKey<string, FeedListener>();
  return {
    /** Streams, by topic. */
    streams,
    /** Feeds, by organization. */
    feeds,
    /** Gives the event to every stream of the topic, and calls `onSlow` if one is slow to take it. */
    publish(topic: string, event: LogEvent, onSlow: () => void): Played {
      const listeners = streams.of(topic);
      if (listeners === undefined) return toNobody;
      const content = contentOf(event);
      const { size } = listeners; // read now, because a listener that is too slow is removed
      let isSlow = false;
      for (const listener of listeners)
        guard(() => {
          isSlow = listener.deliver(frames.forUsers(event), content) || isSlow;
        });
      onDelivery(event, size);
      if (isSlow) onSlow();
      return { connections: size, isSlow };
    },
    /** Passes the event to every feed of its organization. */
    publishToFeeds(event: LogEvent): Played {
      let played = toNobody;
      for (const feed of feeds.of(event.org) ?? []) played = together(played, feed.hear(event));
      return played;
    },
  };
}

/** The topics of streams and feeds on one node. */
export type Topics = ReturnType<typeof createTopics>;
