import type { LogEvent } from "../../contract/log/log-event.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import { threadCosts } from "../../services/limits/costs.ts";
import { type Played, toNobody } from "./played.ts";

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
 * thousand. So a large crowd is in several native topics, its parts. What an organization plays in one turn of the event loop
 * is written at once as long as that is short; the rest waits for the thread, part by part.
 */
export type Crowds = {
  /**
   * Lets the socket, which does not follow the topic yet, hear what is published from now on, and not what waits for parts of the
   * crowd.
   */
  add(topic: string, org: string, socket: TopicSocket): void;
  remove(topic: string, socket: TopicSocket): void;
  /**
   * Writes the event to the sockets of the topic, now or after what waits for those of the organization. Calls `onSlow` whenever
   * a socket is slow to take it.
   */
  publish(topic: string, event: LogEvent, onSlow: () => void): Played;
  /**
   * Writes what waits, in turns of the organization. Resolves once all is written; `undefined` if that is so, and the organization
   * may go on.
   */
  leave(org: string): Promise<void> | undefined;
  /** Writes all that waits for sockets of the organization now. */
  settle(org: string): void;
  /** Does the same for every organization. */
  settleAll(): void;
  /** Called when nobody follows a topic any more. */
  forget(topic: string): void;
};

type Dependencies = {
  sockets: SocketTopics;
  thread: ThreadScheduler;
  /** Called with the number of sockets that an event was handed to. */
  onDelivery(event: LogEvent, connections: number): void;
  /** The sockets of a part, for tests. */
  partSize?: number;
};

type Waiting = { event: LogEvent; onSlow: () => void };
/** What waits for the parts of one topic. */
type Group = { topic: string; parts: Map<string, Waiting[]> };
/** The cost of what was written to an organization's sockets in this turn, and what waits, in order. */
type Stage = { spentUs: number; groups: Group[] };

/** The sockets of a part of a crowd, to which Bun writes in about a millisecond. */
export const mostOfPart = 250;

/** Creates crowds without sockets. */
export function createCrowds({ sockets, thread, onDelivery, partSize = mostOfPart }: Dependencies): Crowds {
  const parts = new Map<string, string[]>(); // of topics that have several; the first has the topic's name
  const stages = new Map<string, Stage>(); // by organization
  let made = 0;
  const hasRoom = (name: string) => sockets.countSubscribers(name) < partSize;

  /** The parts of a topic, but for those at the end that are empty. */
  function partsOf(topic: string): readonly string[] {
    const names = parts.get(topic);
    if (names === undefined) return [topic];
    while (names.length > 1 && sockets.countSubscribers(names.at(-1) ?? "") === 0) names.pop();
    if (names.length === 1) parts.delete(topic);
    return names;
  }

  function stageOf(org: string): Stage {
    const known = stages.get(org);
    if (known !== undefined) return known;
    const stage = { spentUs: 0, groups: [] };
    stages.set(org, stage);
    return stage;
  }

  function write(name: string, { event, onSlow }: Waiting): Played {
    const connections = sockets.countSubscribers(name);
    if (connections === 0) return toNobody;
    const isSlow = sockets.publish(name, event.payload) === -1;
    onDelivery(event, connections);
    if (isSlow) onSlow();
    return { connections, isSlow };
  }

  /** Lets the event wait behind all that waits for sockets of the organization. */
  function defer(groups: Group[], topic: string, names: readonly string[], one: Waiting): Played {
    const last = groups.at(-1);
    const group = last?.topic === topic ? last : { topic, parts: new Map<string, Waiting[]>() };
    if (group !== last) groups.push(group);
    let connections = 0;
    for (const name of names) {
      connections += sockets.countSubscribers(name);
      const waiting = group.parts.get(name);
      if (waiting === undefined) group.parts.set(name, [one]);
      else waiting.push(one);
    }
    return { connections, isSlow: false };
  }

  /** The part that waits longest; `undefined` if none does. */
  function nextPart({ groups }: Stage): { costUs: number; write(): void } | undefined {
    for (let group = groups[0]; group !== undefined; group = groups[0]) {
      const [first] = group.parts;
      if (first === undefined) {
        groups.shift();
        continue;
      }
      const [name, waiting] = first;
      const { parts: left } = group;
      const connections = sockets.countSubscribers(name);
      return {
        costUs: threadCosts.deliveries(connections, connections * waiting.length),
        write() {
          left.delete(name);
          for (const one of waiting) write(name, one);
        },
      };
    }
    return undefined;
  }

  function settle(org: string): void {
    const stage = stages.get(org);
    if (stage === undefined) return;
    for (let part = nextPart(stage); part !== undefined; part = nextPart(stage)) part.write();
  }

  async function writeInTurns(org: string, stage: Stage): Promise<void> {
    for (let part = nextPart(stage); part !== undefined; part = nextPart(stage)) {
      const turn = thread.turn(org, part.costUs);
      if (turn !== undefined) await turn;
      nextPart(stage)?.write(); // another one, if all was settled meanwhile
    }
    stages.delete(org);
  }

  return {
    add(topic, org, socket) {
      const names = parts.get(topic) ?? [topic];
      const groups = stages.get(org)?.groups ?? [];
      const isBehind = (part: string) => groups.some((group) => group.topic === topic && group.parts.has(part));
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
      const stage = stageOf(event.org);
      const [name = topic] = names;
      if (names.length > 1 || stage.groups.length > 0 || stage.spentUs >= threadCosts.slice)
        return defer(stage.groups, topic, names, one);
      const played = write(name, one);
      if (played.connections > 0) stage.spentUs += threadCosts.deliveries(played.connections, played.connections);
      return played;
    },
    leave(org) {
      const stage = stages.get(org);
      if (stage === undefined) return undefined;
      const { spentUs } = stage;
      stage.spentUs = 0;
      if (stage.groups.length > 0) return writeInTurns(org, stage);
      stages.delete(org);
      return spentUs === 0 ? undefined : thread.turn(org, spentUs);
    },
    settle,
    settleAll() {
      for (const org of stages.keys()) settle(org);
    },
    forget: (topic) => void parts.delete(topic),
  };
}
