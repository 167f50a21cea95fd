import type { Connection } from "../../../src/gateway/connections/connection.ts";
import { createRoster } from "../../../src/gateway/connections/roster.ts";
import { answerPresence } from "../../../src/gateway/presence.ts";
import { createOwner } from "../../../src/lib/owner.ts";
import { createNodes } from "../../../src/services/nodes/nodes.ts";
import { createPresence, type Presence } from "../../../src/services/presence.ts";
import type { Attempt } from "../../../src/services/webhooks/attempts.ts";
import { createWebhookService } from "../../../src/services/webhooks/webhook-service.ts";
import { createOrganizationReads } from "../../../src/store/directory/organizations.ts";
import { createLogWriter } from "../../../src/store/log/log-writer.ts";
import { createNodeRegistry } from "../../../src/store/nodes/nodes.ts";
import {
  createWebhookPresenceReads,
  createWebhookPresenceWrites,
} from "../../../src/store/presence/webhook-presence.ts";
import type { Driver } from "../../../src/store/sql/driver.ts";
import { createWebhookDeliveryReads, createWebhookDeliveryWrites } from "../../../src/store/webhooks/deliveries.ts";
import { createUnreachedReads } from "../../../src/store/webhooks/unreached-reads.ts";
import { createWebhookReads, createWebhookWrites } from "../../../src/store/webhooks/webhooks.ts";
import { createDriverModel } from "../models/driver-model.ts";
import { pause } from "../models/time.ts";
import type { PresenceClimate } from "./climate.ts";
import type { Answering, Questions } from "./questions.ts";

/** What a node knows who is connected with, and tells webhooks. A faulty version has a bug to be found. */
export const product = { createRoster, createPresence, createPresenceStore, createWebhookService };

/** The code under test. */
export type Product = typeof product;

/** A node with connections of users, which tells webhooks who comes and goes. */
export type Node = {
  readonly id: string;
  readonly presence: Presence;
  readonly webhooks: ReturnType<typeof createWebhookWrites>;
  /** Until when it has worked without a fault. */
  healthyUntil: number;
  isAlive: boolean;
  readonly isFrozen: boolean;
  /** Resolves when it is killed. */
  readonly died: Promise<"died">;
  /** Takes a user's connection; returns the function that ends it, and resolves `isOver` when the node does. */
  connect(org: string, uid: string): { leave(): void; isOver: Promise<void>; wasFrozen: Promise<void> };
  /** `kill -9`. */
  kill(): void;
  /** Stops as on SIGTERM. */
  stop(): Promise<void>;
  /** SIGSTOP, and SIGCONT when the function that is returned is called. */
  freeze(): () => void;
  /** Calls `work` when the node is about to tell a webhook something. */
  whenItTells(work: () => void): void;
  /** Takes the bus, or the database, away from it. */
  isOffBus: boolean;
  isOffDatabase: boolean;
};

type Options = {
  id: string;
  product: Product;
  questions: Questions;
  attempt: Attempt;
  onError(error: unknown): void;
  climate: PresenceClimate;
} & Pick<Parameters<typeof createDriverModel>[0], "shared" | "random" | "now" | "isAway" | "onCommit">;

const beatMs = 2_000;
const mostSkewMs = 3 * 3_600_000;
const noFigures = {
  sends: 0,
  send_errors: 0,
  deliveries: 0,
  slow_consumers_cut: 0,
  repairs: 0,
  latency_ms: { p50: null, p99: null },
  event_loop_delay_ms: { p50: 0, p99: 0 },
  bus: "up" as const,
};

/** The product's store of webhooks, on a database. */
export function createPresenceStore({ driver }: { driver: Driver }) {
  const writer = createLogWriter({ driver, announce: () => undefined });
  return {
    webhooks: { ...createWebhookReads({ reader: driver }), ...createWebhookWrites({ writer }) },
    webhookDeliveries: {
      ...createWebhookDeliveryReads({ reader: driver }),
      ...createWebhookDeliveryWrites({ driver }),
    },
    webhookPresence: { ...createWebhookPresenceReads({ reader: driver }), ...createWebhookPresenceWrites({ driver }) },
    unreached: createUnreachedReads({ reader: driver }),
  };
}

/** Starts a node: the product's services and SQL on a way to the database, and on a bus for questions. */
export function startNode(options: Options): Node {
  const { id, product, random, climate, now, questions, attempt, onError } = options;
  const isActive = () => now() < climate.activeMs;
  let onTell: (() => void) | undefined;
  let ice: PromiseWithResolvers<void> | undefined;
  let isFrozenNow = Promise.withResolvers<void>();
  const death = Promise.withResolvers<"died">();
  const end = Promise.withResolvers<void>();
  const thawed = async () => {
    while (ice !== undefined) await ice.promise;
  };
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
    thawed,
    isAway: () => node.isOffDatabase || options.isAway(),
  });
  const { driver } = way;
  const skewMs = random.integer(-mostSkewMs, mostSkewMs);
  const clock = { now: () => now() + mostSkewMs + skewMs };
  const roster = product.createRoster();
  const registered = createNodes({
    id,
    name: undefined,
    url: () => "",
    adminUrl: () => undefined,
    activity: () => ({
      connections: 0,
      organizations: 0,
      lag: { events: 0, checkedAt: undefined },
      figures: noFigures,
      refusals: { keys: 0, tokens: 0 },
      problems: [],
    }),
    registry: createNodeRegistry({
      ...driver,
      // The embedded database has no shared registry: only the writing connection may write one.
      all: (text, ...values) =>
        text.startsWith("INSERT") ? driver.transaction((sql) => sql.all(text, ...values)) : driver.all(text, ...values),
      run: (text, ...values) => driver.transaction((sql) => sql.run(text, ...values)),
    }),
    clock,
  });
  const answering: Answering = {
    id,
    answer: (question) => answerPresence(roster, question, () => ({ requests: 0, messages: 0 }), { of: () => ({}) }),
    isAlive: () => node.isAlive,
    isCutOff: () => node.isOffBus,
    thawed,
  };
  const leaveBus = questions.attach(answering);
  const presence = product.createPresence({
    organizations: createOrganizationReads({ reader: driver }),
    users: { get: neverUsed, seenAmong: neverUsed },
    nodes: registered,
    bus: questions.from(answering),
  });
  const store = product.createPresenceStore({ driver });
  const { webhookPresence } = store;
  const service = product.createWebhookService({
    ...store,
    webhookPresence: {
      ...webhookPresence,
      tell(...of) {
        onTell?.();
        return webhookPresence.tell(...of);
      },
    },
    nodeId: id,
    presence,
    recipients: { stays: neverUsed, deliveryIds: neverUsed, deliveries: neverUsed, acknowledgedAt: neverUsed },
    organizations: { get: neverUsed },
    allowsPrivate: true,
    clock,
    elapsed: { now },
    attempt: async (...of) => {
      const tried = await attempt(...of);
      await thawed();
      return await (node.isAlive ? tried : new Promise<never>(() => undefined));
    },
    random: random.next,
    onDisabled: () => undefined,
    onError,
  });

  async function beat(): Promise<void> {
    while (node.isAlive) {
      await registered.beat().catch(() => undefined);
      await pause(beatMs);
    }
  }

  async function begin(): Promise<void> {
    await registered.beat().catch(() => undefined);
    if (node.isAlive) service.poster.start({ onError: () => undefined, onRecovery: () => undefined });
    await beat();
  }

  const node: Node = {
    id,
    presence,
    webhooks: store.webhooks,
    healthyUntil: Number.POSITIVE_INFINITY,
    isAlive: true,
    get isFrozen() {
      return ice !== undefined;
    },
    died: death.promise,
    whenItTells(work) {
      onTell = () => {
        onTell = undefined;
        work();
      };
    },
    isOffBus: false,
    isOffDatabase: false,
    connect(org, uid) {
      const connection = connectionOf(org, uid);
      roster.add(connection);
      return {
        leave() {
          if (ice === undefined) roster.remove(connection);
          else void thawed().then(() => roster.remove(connection));
        },
        isOver: end.promise,
        wasFrozen: isFrozenNow.promise,
      };
    },
    kill() {
      node.isAlive = false;
      node.healthyUntil = Math.min(node.healthyUntil, now());
      way.kill();
      leaveBus();
      void service.poster.stop(); // its timers end with it
      end.resolve();
      death.resolve("died");
    },
    async stop() {
      node.healthyUntil = Math.min(node.healthyUntil, now());
      for (const org of ["o1", "o2"]) for (const connection of roster.ofOrganization(org)) roster.remove(connection);
      end.resolve();
      await Promise.all([service.poster.stop(), registered.leave()]).catch(() => undefined);
      node.isAlive = false;
      leaveBus();
    },
    freeze() {
      node.healthyUntil = Math.min(node.healthyUntil, now());
      ice = Promise.withResolvers();
      isFrozenNow.resolve();
      return () => {
        const { resolve } = ice ?? {};
        ice = undefined;
        isFrozenNow = Promise.withResolvers();
        resolve?.();
      };
    },
  };
  begin().catch(onError);
  return node;
}

function connectionOf(org: string, uid: string): Connection {
  return {
    id: "",
    org,
    uid,
    issuedAt: 0,
    arrival: { transport: "websocket", address: "", client: undefined, since: 0 },
    isOpen: true,
    deliver: () => undefined,
    isReadyForMore: async () => true,
    subscribe: () => undefined,
    unsubscribe: () => undefined,
    end: () => undefined,
    cut: () => undefined,
    takings: 0,
    waitingBytes: () => 0,
    owner: createOwner(() => undefined),
  };
}

async function neverUsed(): Promise<never> {
  throw new Error("the simulation does not know this");
}
