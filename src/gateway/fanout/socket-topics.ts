import { hasExpired, type LogEvent } from "../../contract/log/log-event.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { createGuard } from "../../lib/observing/guard.ts";
import { joinIds } from "../../lib/text/ids.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { threadCosts } from "../../services/limits/costs.ts";
import { type Played, toNobody } from "./played.ts";

/** Bun's native topics, which reach WebSockets. */
export type NativeTopics = {
  /** Bun's native publish: −1 means that some socket has bytes waiting. */
  publish(topic: string, frame: string): number;
  /** The number of sockets subscribed to a topic. */
  countSubscribers(topic: string): number;
};

/** A WebSocket that can subscribe to native topics. */
export type TopicSocket = { subscribe(name: string): unknown; unsubscribe(name: string): unknown };

type Dependencies = {
  sockets: NativeTopics;
  thread: ThreadScheduler;
  databaseClock: Clock;
  /** Called with the number of sockets that an event was handed to. */
  onDelivery(event: LogEvent, connections: number): void;
  /** Called with what a write that had to wait throws; the others are still written. */
  onError(error: unknown): void;
  /** How many sockets a shard has at most, and what an organization's writes of one turn may cost; less in simulated worlds. */
  socketsPerShard?: number;
  sliceUs?: number;
};

type Waiting = { event: LogEvent; onSlow: () => void };
/** The events that wait for shards of one topic. */
type Group = { topic: string; shards: Map<string, Waiting[]> };
/** The output of an organization: the cost of what was written in this turn, and what waits, in order, and whether a socket was slow to take it. */
type Output = { spentUs: number; groups: Group[]; isSlow: boolean };

/** The most subscribers of a shard: Bun writes to them in about a millisecond. */
export const mostOfShard = 250;

/**
 * Creates topics of WebSockets. Bun writes to all subscribers of a native topic at once, which takes milliseconds for a thousand. So a
 * topic with many subscribers consists of several native topics, its shards. What an organization plays in one turn of the event
 * loop is written at once as long as that is short; the rest waits for turns of the thread, shard by shard.
 */
export function createSocketTopics({
  sockets,
  thread,
  databaseClock,
  onDelivery,
  onError,
  socketsPerShard = mostOfShard,
  sliceUs = threadCosts.slice,
}: Dependencies) {
  const shards = new Map<string, string[]>(); // of topics that have several; the first has the topic's name
  const outputs = new Map<string, Output>(); // by organization
  const guard = createGuard(onError);
  let made = 0;
  const hasRoom = (name: string) => sockets.countSubscribers(name) < socketsPerShard;

  /** The shards of a topic, without the empty ones at the end. */
  function shardsOf(topic: string): readonly string[] {
    const names = shards.get(topic);
    if (names === undefined) return [topic];
    while (names.length > 1 && sockets.countSubscribers(names.at(-1) ?? "") === 0) names.pop();
    if (names.length === 1) shards.delete(topic);
    return names;
  }

  function outputOf(org: string): Output {
    const known = outputs.get(org);
    if (known !== undefined) return known;
    const output = { spentUs: 0, groups: [], isSlow: false };
    outputs.set(org, output);
    return output;
  }

  function write(name: string, { event, onSlow }: Waiting): Played {
    const connections = sockets.countSubscribers(name);
    if (connections === 0) return toNobody;
    if (event.expiresAt !== undefined && hasExpired(event, databaseClock.now())) return toNobody; // it may have waited
    const isSlow = sockets.publish(name, event.payload) === -1;
    onDelivery(event, connections);
    if (isSlow) onSlow();
    return { connections, isSlow };
  }

  /** Queues the event behind everything that waits for sockets of the organization. */
  function defer(groups: Group[], topic: string, names: readonly string[], one: Waiting): Played {
    const last = groups.at(-1);
    const group = last?.topic === topic ? last : { topic, shards: new Map<string, Waiting[]>() };
    if (group !== last) groups.push(group);
    let connections = 0;
    for (const name of names) {
      connections += sockets.countSubscribers(name);
      const waiting = group.shards.get(name);
      if (waiting === undefined) group.shards.set(name, [one]);
      else waiting.push(one);
    }
    return { connections, isSlow: false };
  }

  /** The shard whose events have waited longest; `undefined` if none wait. */
  function nextShard(output: Output): { costUs: number; write(): void } | undefined {
    const { groups } = output;
    for (let group = groups[0]; group !== undefined; group = groups[0]) {
      const [first] = group.shards;
      if (first === undefined) {
        groups.shift();
        continue;
      }
      const [name, waiting] = first;
      const { shards: left } = group;
      const connections = sockets.countSubscribers(name);
      return {
        costUs: threadCosts.deliveries(connections, connections * waiting.length),
        write() {
          left.delete(name);
          for (const one of waiting)
            guard(() => {
              output.isSlow = write(name, one).isSlow || output.isSlow;
            });
        },
      };
    }
    return undefined;
  }

  function settle(org: string): void {
    const output = outputs.get(org);
    if (output === undefined) return;
    for (let shard = nextShard(output); shard !== undefined; shard = nextShard(output)) shard.write();
  }

  async function writeInTurns(org: string, output: Output): Promise<boolean> {
    for (let shard = nextShard(output); shard !== undefined; shard = nextShard(output)) {
      const turn = thread.turn(org, shard.costUs);
      if (turn !== undefined) await turn;
      nextShard(output)?.write(); // another one, if all was settled meanwhile
    }
    if (outputs.get(org) === output) outputs.delete(org); // there may be another, after the log was rewritten
    return output.isSlow;
  }

  return {
    /** Subscribes a socket, which is no subscriber yet, to what is published from now on, not to what waits for other subscribers. */
    add(topic: string, org: string, socket: TopicSocket): void {
      const names = shards.get(topic) ?? [topic];
      const groups = outputs.get(org)?.groups ?? [];
      const isBehind = (shard: string) => groups.some((group) => group.topic === topic && group.shards.has(shard));
      let name = names.findLast((shard) => hasRoom(shard) && !isBehind(shard));
      if (name === undefined) {
        name = joinIds(topic, "shard", made++); // a new name, as events may wait for earlier shards
        shards.set(topic, [...names, name]);
      }
      socket.subscribe(name);
    },
    remove(topic: string, socket: TopicSocket): void {
      for (const name of shards.get(topic) ?? [topic]) socket.unsubscribe(name);
    },
    /**
     * Writes the event to the topic's subscribers, now or after everything that waits for sockets of the organization. Calls `onSlow`
     * whenever one of them is slow to take it.
     */
    publish(topic: string, event: LogEvent, onSlow: () => void): Played {
      const one = { event, onSlow };
      const names = shardsOf(topic);
      const output = outputOf(event.org);
      const [name = topic] = names;
      if (names.length > 1 || output.groups.length > 0 || output.spentUs >= sliceUs)
        return defer(output.groups, topic, names, one);
      const played = write(name, one);
      if (played.connections > 0) output.spentUs += threadCosts.deliveries(played.connections, played.connections);
      return played;
    },
    /**
     * Ends the organization's turn. Writes what waits in its next turns and resolves once all is written, with whether a socket was
     * slow to take it; `undefined` if it may continue at once.
     */
    leave(org: string): Promise<boolean> | undefined {
      const output = outputs.get(org);
      if (output === undefined) return undefined;
      const { spentUs } = output;
      output.spentUs = 0;
      if (output.groups.length > 0) return writeInTurns(org, output);
      outputs.delete(org);
      return spentUs === 0 ? undefined : thread.turn(org, spentUs)?.then(() => output.isSlow);
    },
    /** Writes everything that waits for sockets of the organization now. */
    settle,
    /** Writes everything that waits for sockets of any organization now. */
    settleAll(): void {
      for (const org of outputs.keys()) settle(org);
    },
    /** Called when a topic has lost its last subscriber. */
    forget: (topic: string): void => void shards.delete(topic),
  };
}

/** The topics of WebSockets on one node. */
export type SocketTopics = ReturnType<typeof createSocketTopics>;
