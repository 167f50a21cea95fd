import { defaultPayloadLimits } from "../../../src/contract/limits.ts";
import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import { createGateway } from "../../../src/gateway/gateway.ts";
import { gatewayParts } from "../../../src/gateway/parts.ts";
import { createThreadScheduler } from "../../../src/lib/event-loop/thread-scheduler.ts";
import { createDatabaseClock } from "../../../src/lib/time/database-clock.ts";
import { createErasures } from "../../../src/services/directory/erasure.ts";
import { createAppendStreams } from "../../../src/services/messages/append-stream.ts";
import { createAppends, createClosing } from "../../../src/services/messages/appends.ts";
import { createChanges } from "../../../src/services/messages/changes.ts";
import { createExpiry } from "../../../src/services/messages/expiry.ts";
import { createHistoryReader } from "../../../src/services/messages/history.ts";
import { createMessages } from "../../../src/services/messages/messages.ts";
import { createRecovery } from "../../../src/services/messages/recovery.ts";
import { createRetention } from "../../../src/services/retention.ts";
import { createSessions } from "../../../src/services/sessions/sessions.ts";
import { createLogWriter } from "../../../src/store/log/log-writer.ts";
import { createOpenMessageReads, createOpenMessageWrites } from "../../../src/store/messages/open-messages.ts";
import type { Driver } from "../../../src/store/sql/driver.ts";
import { createStore, createWrites } from "../../../src/store/store.ts";
import type { BusEnd } from "../models/bus.ts";
import { createDriverModel } from "../models/driver-model.ts";
import { type Link, openWebSocket, type SocketTopics, type Wire } from "../models/socket.ts";
import { openStream } from "../models/stream.ts";
import {
  createSockets,
  createTokens,
  limitsWith,
  neverUsed,
  quietBus,
  quietSurroundings,
  tokenOf,
} from "../models/surroundings.ts";
import { createThreadModel } from "../models/thread.ts";
import { pause } from "../models/time.ts";
import type { GrowthClimate } from "./climate.ts";

/** What a node makes of a database, and how it recovers and appends. A faulty version has a bug to be found. */
export const product = { createStore: createGrowthStore, createRecovery, createAppends };

/** The code under test. */
export type Product = typeof product;

/** What a store is made of: the way to the database, who hears of commits, and how long a message stays open without a piece. */
export type StoreParts = { driver: Driver; announce(events: LogEvent[]): void; silenceMs: number };

type Services = ReturnType<typeof createServices>;

/** A node that takes messages that grow, and delivers them. */
export type Node = Services & {
  readonly name: string;
  isAlive: boolean;
  /** Resolves when it has died or stopped. */
  readonly died: Promise<"died">;
  /** Connects a device of a user; returns the function that breaks the connection. */
  connect(wire: Wire, wish: { org: string; uid: string; since: string | undefined; isStream: boolean }): () => void;
  /** `kill -9`. */
  kill(): void;
  /** Stops as on SIGTERM. */
  stop(): Promise<void>;
};

type Options = Omit<Parameters<typeof createDriverModel>[0], "climate"> & {
  name: string;
  product: Product;
  climate: GrowthClimate;
  bus: BusEnd;
  isActive(): boolean;
  onError(error: unknown): void;
};

const purgeEveryMs = 1_000;
const dayMs = 24 * 3_600_000;

/** The product's store on a database. */
export function createGrowthStore({ driver, announce, silenceMs }: StoreParts) {
  const writes = createWrites({ driver, announce, thread: createThreadScheduler() });
  const writer = createLogWriter({ driver, announce });
  const store = createStore({ reader: driver, writes, announce });
  const openMessages = {
    ...createOpenMessageReads({ reader: driver, silenceMs }),
    ...createOpenMessageWrites({ writer, silenceMs }),
    isShared: driver.dialect.isShared,
  };
  return { ...store, openMessages };
}

type Clocks = Record<"clock" | "elapsed", { now(): number }>;

/** The product's services that have to do with messages. */
function createServices(
  { product, name, climate, random, onError }: Options,
  store: ReturnType<Product["createStore"]>,
  clocks: Clocks,
) {
  const limits = defaultPayloadLimits;
  const use = { admitSend: () => () => undefined, admitChange: () => () => undefined };
  const shared = { ...store, ...clocks, use, limits, onError, random: random.next };
  const appends = product.createAppends(shared);
  return {
    messages: createMessages({ ...shared, awaited: { follow: neverUsed } }),
    appends,
    appendStreams: createAppendStreams({ ...shared, appends }),
    changes: createChanges(shared),
    erasures: createErasures(shared),
    history: createHistoryReader({
      ...shared,
      longReads: { run: (work) => work() },
      onUnreadable: ({ org, offset }) => onError(`event ${offset} of ${org} cannot be read`),
    }),
    standing: store.standing,
    jobs: [createClosing(shared), createExpiry(shared)],
    retention: createRetention({
      ...shared,
      keep: { messages: climate.keptMs / dayMs, ids: 1, audit: 1, tokens: 1, recovery: 1 },
      holder: name,
      clock: { now: () => clocks.clock.now() },
      onSkew: () => undefined,
    }),
  };
}

/** Starts a node: the product's services, gateway and SQL on a way to the database, and on a bus. */
export function startNode(options: Options): Node {
  const { name, product, climate, bus, random, now, isActive, onError } = options;
  const way = createDriverModel({
    ...options,
    climate: {
      ...climate,
      get aborts() {
        return isActive() ? climate.aborts : 0;
      },
      get lostAnswers() {
        return isActive() ? climate.lostAnswers : 0;
      },
    },
  });
  const announce = (events: LogEvent[]) => {
    if (node.isAlive) bus.publish(events);
  };
  const store = product.createStore({ driver: way.driver, announce, silenceMs: climate.silenceMs });
  const skewMs = climate.skewMs === 0 ? 0 : random.integer(-climate.skewMs, climate.skewMs);
  const steady = { now };
  const clock = { now: () => now() + skewMs };
  const databaseClock = createDatabaseClock(clock);
  databaseClock.compare({ offsetMs: skewMs });
  const services = createServices(options, store, { clock, elapsed: steady });
  const topics: SocketTopics = new Map();
  const links = new Set<Link>();
  const death = Promise.withResolvers<"died">();
  const gateway = createGateway(
    {
      ...quietSurroundings,
      bus: {
        ...quietBus,
        subscribe: (org, handler) => bus.subscribe(org, (hint) => (node.isAlive ? handler(hint) : undefined)),
      },
      thread: createThreadModel({ createThread: createThreadScheduler, random, climate: climate.thread, onError }),
      databaseClock,
      log: store.log,
      sessions: createSessions({
        tokens: createTokens(now),
        standing: store.standing,
        users: { ensure: neverUsed },
        refusals: { admit: () => undefined, note: () => undefined },
        clock,
      }),
      recovery: product.createRecovery({
        ...store,
        missed: store.missed,
        maxMessages: climate.maxRecovered,
        maxDays: 1,
        clock,
      }),
      history: services.history,
      inboxes: { list: neverUsed, mark: neverUsed, countUnread: async () => 0 },
      ledger: {
        played: () => undefined,
        playedTo: () => undefined,
        given: () => undefined,
        renew: () => undefined,
        flush: neverUsed,
      },
      feedStarts: { now: neverUsed, resume: neverUsed },
      clock,
      steadyClock: steady,
      limits: limitsWith(climate.backlogBytes),
      sockets: createSockets(topics),
      nodeId: name,
      onBreak: (org) => onError(`${name} finds that ${org} was set back`),
      onError,
    },
    {
      ...gatewayParts,
      createSocketTopics: (dependencies) => gatewayParts.createSocketTopics({ ...dependencies, ...climate.fanout }),
    },
  );

  async function purge(): Promise<void> {
    while (node.isAlive && climate.isPurged) {
      await services.retention.run().catch(() => 0); // the database was away
      await pause(purgeEveryMs);
    }
  }

  function end(): void {
    node.isAlive = false;
    way.kill();
    for (const link of links) link.orphan();
    void bus.close();
    for (const job of services.jobs) void job.stop(); // its timers end with it
    death.resolve("died");
  }

  const node: Node = {
    ...services,
    name,
    isAlive: true,
    died: death.promise,
    connect(wire, { org, uid, since, isStream }) {
      const token = tokenOf({ org, uid, issuedAt: now(), attempt: 0 });
      const request = { connect: { token, ...(since !== undefined && { since }) }, id: 1 };
      const link = isStream
        ? openStream({ streams: gateway.streams, wire, token, since })
        : openWebSocket({
            webSockets: gateway.webSockets,
            wire,
            topics,
            onWrite: () => undefined,
            now,
            frame: JSON.stringify({ request }),
          });
      links.add(link);
      return () => {
        links.delete(link);
        if (node.isAlive) link.cut();
        else link.orphan();
      };
    },
    kill: end,
    async stop() {
      await Promise.all([gateway.stop(), ...services.jobs.map((job) => job.stop())]);
      end();
    },
  };
  for (const job of services.jobs) job.start({ onError: () => undefined, onRecovery: () => undefined });
  purge().catch(onError);
  return node;
}
