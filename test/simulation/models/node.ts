import type { Hint } from "../../../src/bus/bus.ts";
import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { Audience } from "../../../src/gateway/delivery/audience.ts";
import type { PlayedEvent } from "../../../src/gateway/delivery/delivery-ledger.ts";
import { conversationTopic, organizationTopic } from "../../../src/gateway/fanout/topics.ts";
import { type GatewayParts, gatewayParts } from "../../../src/gateway/parts.ts";
import { joinIds } from "../../../src/lib/text/ids.ts";
import type { Inboxes } from "../../../src/services/messages/inboxes.ts";
import type { Session } from "../../../src/services/sessions/sessions.ts";
import type { Identity } from "../../../src/services/sessions/tokens.ts";
import type { Random } from "../../harness/random.ts";
import { type Climate, maxRecoveredMs, retentionMs } from "../climate.ts";
import type { Product } from "../product.ts";
import type { BusEnd } from "./bus.ts";
import type { Database } from "./database.ts";
import { type FeedWire, openFeed } from "./feed.ts";
import { watchLateWrites } from "./late-writes.ts";
import { startNodeExpiry } from "./node-expiry.ts";
import { createNodeInboxes } from "./node-inboxes.ts";
import { type Link, openWebSocket, type SocketTopics, type Wire } from "./socket.ts";
import { openStream } from "./stream.ts";
import { createSockets, createTokens, limitsWith, neverUsed, quietBus, quietSurroundings } from "./surroundings.ts";
import { createThreadModel, type WatchedThread } from "./thread.ts";
import { pause } from "./time.ts";

const dayMs = 24 * 3600 * 1000;
const backlogBytes = 4 * 1024 * 1024;
const partMark = joinIds("", "shard", "");

/** Thrown by a read, or an entry in the ledger, that the seed makes fail. */
export class StoreFault extends Error {}

/** A node of the cluster: the product's gateway and services on a simulated database, bus and sockets. */
export type Node = {
  readonly name: string;
  readonly bus: BusEnd;
  readonly thread: WatchedThread;
  readonly inboxes: Pick<Inboxes, "list" | "mark">;
  /** How often it has written to a part of those who follow a topic. */
  readonly partWrites: number;
  isAlive: boolean;
  /**
   * Connects a client, over a WebSocket or a stream of server-sent events; returns the function that breaks the
   * connection.
   */
  connect(wire: Wire, wish: { token: string; since: string | undefined; isStream: boolean }): () => void;
  /** Follows what an organization delivers, after a cursor; returns the function that breaks the connection. */
  follow(wire: FeedWire, org: string, after: string | undefined): () => void;
  /** Learns of what it has committed and will expire. */
  expect(events: readonly LogEvent[]): void;
  /** `kill -9`: what it was about to do is never done. */
  kill(): void;
  /** Stops as on SIGTERM. */
  stop(): Promise<void>;
  /** Called when the bus is back. */
  checkHeads(): void;
  /** Breaks the connections of all clients. */
  leaveAll(): void;
  /** Describes what the node holds for connections; empty if nothing. */
  held(): string;
};

type Options = {
  name: string;
  product: Product;
  database: Database;
  bus: BusEnd;
  random: Random;
  now(): number;
  /** Whether reads fail now, and how long they take. */
  store: { isFailing(): boolean; latencyMs(): number };
  climate: Climate;
  onSession(token: string, session: Session): void;
  /** Called with what users have marked in their inboxes through the node. */
  onCommit(node: Node, events: LogEvent[]): void;
  note(text: () => string): void;
  onError(error: unknown): void;
};

export function createNode(options: Options): Node {
  const { name, product, database, bus, random, now, store, climate, onSession, onCommit, note, onError } = options;
  const { maxRecovered, ledgerFails } = climate;
  const topics: SocketTopics = new Map();
  let partWrites = 0;
  const links = new Set<Link>();
  const clock = { now };
  const aheadMs = climate.skewMs > 0 ? random.integer(-climate.skewMs, climate.skewMs) : 0;
  const ownClock = { now: () => now() + aheadMs };
  const databaseClock = product.createDatabaseClock(ownClock);
  databaseClock.compare({ offsetMs: aheadMs });
  const { createThreadScheduler: createThread } = product;
  const thread = createThreadModel({ createThread, random, climate: climate.thread, onError });
  const { reads, inboxReads } = database;

  /** Asks the database, which looks at some moment between question and answer. A dead node gets no answer. */
  async function ask<Answer>(look: () => Answer): Promise<Answer> {
    const early = random.next() < 0.5 ? { answer: look() } : undefined;
    const latencyMs = store.latencyMs();
    if (latencyMs > 0) await pause(latencyMs);
    if (!node.isAlive) await new Promise(() => undefined);
    if (store.isFailing()) throw new StoreFault("the database is away");
    return early === undefined ? look() : early.answer;
  }

  /** The token of each identity. */
  const signed = new WeakMap<Identity, string>();
  const sessions = product.createSessions({
    tokens: createTokens(now),
    standing: { snapshot: (org, uid) => ask(() => reads.snapshot(org, uid)) },
    users: { ensure: neverUsed },
    refusals: { admit: () => undefined, note: () => undefined },
    clock,
  });

  function failSometimes(): void {
    if (ledgerFails > 0 && random.next() < ledgerFails) throw new StoreFault("the ledger fails");
  }

  const lateWrites = watchLateWrites({ database, expires: climate.expiring > 0, now, onError });

  /** The users reported to have heard an event must be the sockets that follow its topic, and streams. */
  function expectHeard({ org, offset, cid }: PlayedEvent, { connections }: Audience): void {
    const topic = cid === undefined ? organizationTopic(org) : conversationTopic(org, cid);
    const sockets = countFollowers(topics, topic);
    if (connections < sockets || connections > sockets + gateway.count("sse"))
      onError(new Error(`event ${offset} of ${org} was heard by ${sockets} sockets, and ${connections} are counted`));
    failSometimes();
  }

  const parts: GatewayParts = {
    ...gatewayParts,
    createPlayer(given) {
      const play = gatewayParts.createPlayer(given);
      return (event) => {
        const played = play(event);
        lateWrites.played(event); // also if nobody hears it here
        return played;
      };
    },
    createSocketTopics(dependencies) {
      const socketTopics = gatewayParts.createSocketTopics({ ...dependencies, ...climate.fanout });
      return {
        ...socketTopics,
        publish(topic, event, onSlow) {
          lateWrites.played(event); // also if only streams follow the topic
          return socketTopics.publish(topic, event, onSlow);
        },
      };
    },
  };
  const writing = {
    ...options,
    ask,
    isAlive: () => node.isAlive,
    onCommit: (events: LogEvent[]) => onCommit(node, events),
    fault: () => new StoreFault("the commit fails"),
  };
  const inboxes = createNodeInboxes(writing);
  const expiry = climate.expiring > 0 ? startNodeExpiry(writing) : undefined;
  const dependencies: Parameters<Product["createGateway"]>[0] = {
    ...quietSurroundings,
    bus: {
      ...bus,
      ...quietBus,
      subscribe: (org, handler) => bus.subscribe(org, (hint: Hint) => (node.isAlive ? handler(hint) : undefined)),
    },
    thread,
    databaseClock,
    log: {
      heads: (orgs) => ask(() => reads.heads(orgs)),
      readFrom: (org, offset, limit) => ask(() => reads.readFrom(org, offset, limit)),
      readAfter: (...of) => ask(() => reads.readAfter(...of)),
      readShown: (...of) => ask(() => reads.readShown(...of)),
    },
    sessions: {
      requireUnrevoked: () => undefined,
      async identify(token, address) {
        const identity = await sessions.identify(token, address);
        signed.set(identity, token);
        return identity;
      },
      async open(identity) {
        const session = await sessions.open(identity);
        onSession(signed.get(identity) ?? "", session);
        return session;
      },
    },
    recovery: product.createRecovery({
      missed: {
        findMessage: (org, id) => ask(() => reads.findMessage(org, id)),
        countMissed: (...of) => ask(() => reads.countMissed(...of)),
        findGrown: async () => [], // no message grows here
        readGrown: async () => [],
        readMissed: (org, uid, after, upTo, limit, maxBytes) =>
          ask(() =>
            reads
              .readMissed(org, uid, after, upTo, limit, maxBytes)
              .map((event) => ({ ...event, cid: event.cid ?? "", isRecipient: true })),
          ),
      },
      inboxes: {
        countMissedKept: (...of) => ask(() => inboxReads.countMissedKept(...of)),
        readMissedKept: (...of) => ask(() => inboxReads.readMissedKept(...of)),
      },
      hidings: { hiddenAmong: () => ask(() => new Set<string>()) },
      maxMessages: maxRecovered,
      maxDays: maxRecoveredMs / dayMs,
      clock,
    }),
    history: { messagesFor: neverUsed, conversationsOf: neverUsed },
    inboxes,
    ledger: {
      played: expectHeard,
      playedTo: failSometimes,
      given: failSometimes,
      renew: () => undefined,
      flush: neverUsed,
    },
    feedStarts: product.createFeedStarts({
      standing: { snapshot: (org, uid) => ask(() => reads.snapshot(org, uid)) },
      log: {
        heads: (orgs) => ask(() => reads.heads(orgs)),
        readFrom: (org, offset, limit) => ask(() => reads.readFrom(org, offset, limit)),
      },
      organizations: { get: async (id) => ({ id, name: null, createdAt: 0 }) },
      clock,
      keepDays: retentionMs / dayMs,
    }),
    clock: ownClock,
    steadyClock: clock,
    limits: limitsWith(backlogBytes),
    sockets: createSockets(topics, (topic) => {
      if (topic.includes(partMark)) partWrites++;
    }),
    nodeId: name,
    onBreak: (org, { played, head }) =>
      note(() => `${name} finds that ${org} was set back: it played ${played.id}, and the head is ${head.id}`),
    onError,
  };
  const gateway = product.createGateway(dependencies, parts);

  /** Holds a connection until its client breaks it. */
  function hold(link: Link): () => void {
    links.add(link);
    return () => {
      links.delete(link);
      if (node.isAlive) link.cut();
      else link.orphan();
    };
  }

  function openSocket(wire: Wire, request: object): Link {
    return openWebSocket({
      webSockets: gateway.webSockets,
      wire,
      topics,
      onWrite: lateWrites.onWrite,
      now,
      frame: JSON.stringify(request),
    });
  }

  const node: Node = {
    name,
    bus,
    thread,
    inboxes,
    get partWrites() {
      return partWrites;
    },
    isAlive: true,
    connect(wire, { token, since, isStream }) {
      const link = isStream
        ? openStream({ streams: gateway.streams, wire: lateWrites.watched(wire), token, since })
        : openSocket(wire, { request: { connect: { token, ...(since !== undefined && { since }) }, id: 1 } });
      return hold(link);
    },
    follow(wire, org, after) {
      const { onCursor } = wire;
      return hold(openFeed(gateway.feeds, Object.assign(lateWrites.watched(wire), { onCursor }), org, after));
    },
    kill() {
      node.isAlive = false;
      for (const link of links) link.orphan();
      void bus.close();
    },
    expect(events) {
      for (const { expiresAt } of events) if (expiresAt !== undefined) expiry?.expect(expiresAt - databaseClock.now());
    },
    async stop() {
      await Promise.all([gateway.stop(), expiry?.stop()]);
      await bus.close();
      node.isAlive = false;
      for (const link of links) link.orphan(); // the process ends, and with it everything still being let in
    },
    checkHeads: () => void gateway.checkHeads().catch(onError),
    leaveAll() {
      for (const link of links) link.cut();
      links.clear();
    },
    held: () =>
      Object.entries({ ...gateway.held(), waiters: thread.unserved })
        .flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`]))
        .join(", "),
  };
  return node;
}

/** The sockets that follow a topic or a part of it. */
function countFollowers(topics: SocketTopics, topic: string): number {
  let sockets = 0;
  for (const [name, { size }] of topics) if (name === topic || name.startsWith(`${topic}${partMark}`)) sockets += size;
  return sockets;
}
