import type { LogEvent } from "../../contract/log/log-event.ts";
import { createGuard } from "../../lib/observing/guard.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import type { StreamFrames } from "../streams/stream-frames.ts";

/** A listener that the runtime's own topics do not reach: a server-sent event stream. `deliver` gives true when it is slow to take it. */
export type StreamListener = { deliver(frame: Uint8Array): boolean };

/** Where frames are published: one topic for each conversation and one for each user. */
export type Topics = {
  /** Gives the event to every listener of the topic. True when one of them is slow to take it. */
  publish(topic: string, event: LogEvent): boolean;
  addStream(topic: string, listener: StreamListener): void;
  removeStream(topic: string, listener: StreamListener): void;
  /** How many topics have streams. */
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

/** The server's own topics, which reach its sockets. */
export type SocketTopics = {
  /** Bun's native publish: −1 says that a socket has bytes waiting. */
  publish(topic: string, frame: string): number;
  /** How many sockets follow a topic. */
  countSubscribers(topic: string): number;
};

type Dependencies = {
  sockets: SocketTopics;
  frames: Pick<StreamFrames, "forUsers">;
  /** Told how many connections an event was handed to. */
  onDelivery(event: LogEvent, connections: number): void;
  /** Told what a stream throws: the others hear the event all the same. */
  onError(error: unknown): void;
};

/** Topics that nobody follows. */
export function createTopics({ sockets, frames, onDelivery, onError }: Dependencies): Topics {
  const guard = createGuard(onError);
  const streams = new Map<string, Set<StreamListener>>();
  return {
    publish(topic, event) {
      const listeners = streams.get(topic);
      const connections = sockets.countSubscribers(topic) + (listeners?.size ?? 0);
      let isSlow = sockets.publish(topic, event.payload) === -1;
      for (const listener of listeners ?? [])
        guard(() => {
          isSlow = listener.deliver(frames.forUsers(event)) || isSlow;
        });
      if (connections > 0) onDelivery(event, connections);
      return isSlow;
    },
    addStream(topic, listener) {
      const listeners = streams.get(topic) ?? new Set();
      streams.set(topic, listeners.add(listener));
    },
    removeStream(topic, listener) {
      const listeners = streams.get(topic);
      listeners?.delete(listener);
      if (listeners?.size === 0) streams.delete(topic);
    },
    get size() {
      return streams.size;
    },
  };
}
