import type { LogEvent } from "../../contract/log/log-event.ts";
import { createGuard } from "../../lib/observing/guard.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import { type Played, toNobody } from "../log/sequencer.ts";
import type { StreamFrames } from "../streams/stream-frames.ts";
import { messageIn } from "./event-facts.ts";

/**
 * A server-sent event stream, which Bun's native topics do not reach. `deliver` takes a frame with the id of the message whose
 * text it holds, if any, and returns true if the stream is slow to take it.
 */
export type StreamListener = { deliver(frame: Uint8Array, message: string | undefined): boolean };

/** A feed. It receives every event of its organization and shows those that its filter selects. */
export type FeedListener = { hear(event: LogEvent): Played; end(): void };

/** Publishes frames: one topic per conversation, one per user and one per organization. */
export type Topics = {
  /** Gives the event to every listener of the topic. */
  publish(topic: string, event: LogEvent): Played;
  /** Passes the event to every feed of its organization. */
  publishToFeeds(event: LogEvent): Played;
  addStream(topic: string, listener: StreamListener): void;
  removeStream(topic: string, listener: StreamListener): void;
  addFeed(org: string, feed: FeedListener): void;
  removeFeed(org: string, feed: FeedListener): void;
  feedsOf(org: string): Iterable<FeedListener>;
  /** The number of topics with streams. */
  readonly size: number;
};

/** The topic of a conversation. */
export function conversationTopic(org: string, cid: string): string {
  return joinIds("c", org, cid);
}

/** The topic of a user. */
export function userTopic(org: string, uid: string): string {
  return joinIds("u", org, uid);
}

/** The topic of everyone in an organization. */
export function organizationTopic(org: string): string {
  return joinIds("o", org);
}

/** Bun's native topics, which reach WebSockets. */
export type SocketTopics = {
  /** Bun's native publish: −1 means that some socket has bytes waiting. */
  publish(topic: string, frame: string): number;
  /** The number of sockets subscribed to a topic. */
  countSubscribers(topic: string): number;
};

type Dependencies = {
  sockets: SocketTopics;
  frames: Pick<StreamFrames, "forUsers">;
  /** Called with the number of connections that an event was handed to. */
  onDelivery(event: LogEvent, connections: number): void;
  /** Called with what a stream throws; the other listeners still get the event. */
  onError(error: unknown): void;
};

/** Creates topics without listeners. */
export function createTopics({ sockets, frames, onDelivery, onError }: Dependencies): Topics {
  const guard = createGuard(onError);
  const streams = new Map<string, Set<StreamListener>>();
  const feeds = new Map<string, Set<FeedListener>>();
  return {
    publish(topic, event) {
      const listeners = streams.get(topic);
      const connections = sockets.countSubscribers(topic) + (listeners?.size ?? 0);
      const message = listeners === undefined ? undefined : messageIn(event);
      let isSlow = sockets.publish(topic, event.payload) === -1;
      for (const listener of listeners ?? [])
        guard(() => {
          isSlow = listener.deliver(frames.forUsers(event), message) || isSlow;
        });
      if (connections > 0) onDelivery(event, connections);
      return { connections, isSlow };
    },
    publishToFeeds(event) {
      const listeners = feeds.get(event.org);
      if (listeners === undefined) return toNobody;
      let connections = 0;
      let isSlow = false;
      for (const feed of listeners) {
        const heard = feed.hear(event);
        connections += heard.connections;
        isSlow = heard.isSlow || isSlow;
      }
      return { connections, isSlow };
    },
    addStream(topic, listener) {
      add(streams, topic, listener);
    },
    removeStream(topic, listener) {
      remove(streams, topic, listener);
    },
    addFeed(org, feed) {
      add(feeds, org, feed);
    },
    removeFeed(org, feed) {
      remove(feeds, org, feed);
    },
    feedsOf: (org) => feeds.get(org) ?? [],
    get size() {
      return streams.size;
    },
  };
}

function add<Listener>(all: Map<string, Set<Listener>>, name: string, listener: Listener): void {
  const listeners = all.get(name) ?? new Set();
  all.set(name, listeners.add(listener));
}

function remove<Listener>(all: Map<string, Set<Listener>>, name: string, listener: Listener): void {
  const listeners = all.get(name);
  listeners?.delete(listener);
  if (listeners?.size === 0) all.delete(name);
}
