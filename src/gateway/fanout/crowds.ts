import type { LogEvent } from "../../contract/log/log-event.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import { type Played, together, toNobody } from "./played.ts";

/** Bun's native topics, which reach WebSockets. */
export type SocketTopics = {
  /** Bun's native publish: −1 means that some socket has bytes waiting. */
  publish(topic: string, frame: string): number;
  /** The number of sockets subscribed to a topic. */
  countSubscribers(topic: string): number;
};

/** A WebSocket that can follow native topics. */
export type TopicSocket = { subscribe(name: string): unknown; unsubscribe(name: string): unknown };

/**
 * The sockets that follow each topic. Bun writes to all sockets of a native topic at once, which takes milliseconds for a
 * thousand. So a large crowd is in several native topics, its parts, which can be written to one after the other.
 */
export type Crowds = {
  /**
   * Lets the socket, which does not follow the topic yet, hear what is published from now on, and not what waits for parts of the
   * crowd.
   */
  add(topic: string, org: string, socket: TopicSocket): void;
  remove(topic: string, socket: TopicSocket): void;
  /**
   * Writes the event to the sockets of the topic, or while organizations share the node, to those of a large crowd when
   * `next` says so. Calls `onSlow` whenever a socket is slow to take it.
   */
  publish(topic: string, event: LogEvent, onSlow: () => void): Played;
  /** The part of a crowd of the organization that waits longest for what was published to it. */
  next(org: string): WaitingPart | undefined;
  /** Writes all that waits for parts of the organization's crowds. */
  settle(org: string): void;
  /** Does the same for every organization. */
  settleAll(): void;
  /** Called when nobody follows a topic any more. */
  forget(topic: string): void;
};

/** `write` returns the number of deliveries: 0 if all was written meanwhile. */
export type WaitingPart = { readonly deliveries: number; write(): number };

type Dependencies = {
  sockets: SocketTopics;
  /** Whether several organizations are active on this node. */
  isShared(): boolean;
  /** Called with the number of sockets that an event was handed to. */
  onDelivery(event: LogEvent, connections: number): void;
};

type Waiting = { event: LogEvent; onSlow: () => void };
type WaitingCrowd = { topic: string; parts: Map<string, Waiting[]> };

const mostOfPart = 250; // sockets

/** Creates crowds without sockets. */
export function createCrowds({ sockets, isShared, onDelivery }: Dependencies): Crowds {
  const parts = new Map<string, string[]>(); // of topics that have several; the first has the topic's name
  const waiting = new Map<string, WaitingCrowd>(); // by organization
  let made = 0;
  const hasRoom = (name: string) => sockets.countSubscribers(name) < mostOfPart;

  /** The parts of a topic that has several, but for those at the end that are empty. */
  function partsOf(topic: string): string[] | undefined {
    const names = parts.get(topic);
    while (names !== undefined && names.length > 1 && sockets.countSubscribers(names.at(-1) ?? "") === 0) names.pop();
    if (names?.length !== 1) return names;
    parts.delete(topic);
    return undefined;
  }

  function write(name: string, { event, onSlow }: Waiting): Played {
    const connections = sockets.countSubscribers(name);
    const isSlow = sockets.publish(name, event.payload) === -1;
    if (connections > 0) onDelivery(event, connections);
    if (isSlow) onSlow();
    return { connections, isSlow };
  }

  /** Lets the event wait for each part. */
  function defer(topic: string, names: readonly string[], one: Waiting): Played {
    const { org } = one.event;
    const crowd = waiting.get(org) ?? { topic, parts: new Map() };
    waiting.set(org, crowd);
    let connections = 0;
    for (const name of names) {
      connections += sockets.countSubscribers(name);
      crowd.parts.set(name, [...(crowd.parts.get(name) ?? []), one]);
    }
    return { connections, isSlow: false };
  }

  function next(org: string): WaitingPart | undefined {
    const crowd = waiting.get(org);
    if (crowd === undefined) return undefined;
    const [first] = crowd.parts;
    if (first === undefined) {
      waiting.delete(org);
      return undefined;
    }
    const [name, ones] = first;
    return {
      deliveries: ones.length * sockets.countSubscribers(name),
      write() {
        const left = crowd.parts.get(name) ?? [];
        crowd.parts.delete(name);
        return left.reduce((sum, one) => sum + write(name, one).connections, 0);
      },
    };
  }

  function settle(org: string): void {
    for (let part = next(org); part !== undefined; part = next(org)) part.write();
  }

  return {
    add(topic, org, socket) {
      const names = parts.get(topic) ?? [topic];
      const crowd = waiting.get(org);
      const isBehind = (part: string) => crowd?.topic === topic && crowd.parts.has(part);
      let name = names.findLast((part) => hasRoom(part) && !isBehind(part));
      if (name === undefined) {
        name = joinIds(topic, "part", made++); // never a name of before, for which something may wait
        parts.set(topic, [...names, name]);
      }
      socket.subscribe(name);
    },
    remove(topic, socket) {
      for (const name of parts.get(topic) ?? [topic]) socket.unsubscribe(name);
    },
    publish(topic, event, onSlow) {
      const one = { event, onSlow };
      const names = partsOf(topic);
      const mayWait = names !== undefined && isShared();
      const crowd = waiting.get(event.org);
      if (crowd !== undefined && !(mayWait && crowd.topic === topic)) settle(event.org); // in order for each socket
      if (names === undefined) return write(topic, one);
      if (mayWait) return defer(topic, names, one);
      return names.map((name) => write(name, one)).reduce(together, toNobody);
    },
    next,
    settle,
    settleAll() {
      for (const org of waiting.keys()) settle(org);
    },
    forget: (topic) => void parts.delete(topic),
  };
}
