import type { LogEvent } from "../../src/contract/log/log-event.ts";
import { createRandom, type Random } from "../harness/random.ts";
import {
  type Climate,
  chooseClimate,
  headCheckMs,
  longestTroubleMs,
  pickOrganization,
  purgeEveryMs,
  retentionMs,
  threadMsOf,
} from "./climate.ts";
import { chooseFeeds, noFeeds } from "./climate-feeds.ts";
import { chooseInboxes, noInboxes } from "./climate-inboxes.ts";
import { judgeEnds } from "./judge/ends.ts";
import { judgeFeeds } from "./judge/feeds.ts";
import { judgeListings } from "./judge/inbox-answers.ts";
import { judge } from "./judge/judge.ts";
import { judgeMarks } from "./judge/marks.ts";
import { judgeReads } from "./judge/reads.ts";
import { runBurst } from "./models/burst.ts";
import { describe } from "./models/changes.ts";
import { type Hearing, recordSession, runClient } from "./models/client.ts";
import { createCluster } from "./models/cluster.ts";
import { type Reading, type Refusal, runConsumer } from "./models/consumer.ts";
import { createDatabase, type Database, type FeedFlaw } from "./models/database.ts";
import type { ExpiryFlaw } from "./models/expiries.ts";
import type { InboxFlaw } from "./models/inbox-rows.ts";
import { type Listing, runMarker } from "./models/marker.ts";
import type { Node } from "./models/node.ts";
import { runReader } from "./models/reader.ts";
import { inSimulatedTime, pause, type SimulatedTime } from "./models/time.ts";
import { announceLater, runWriter, type Writing } from "./models/writer.ts";
import type { Product } from "./product.ts";

/** After this, a node holds nothing for connections that are gone. */
const forgottenMs = 12_000;

/** How a world may deviate from normal. */
export type Variant = {
  product: Product;
  writing?: Writing;
  /** Whether a node checks the heads when the bus is back; true by default. */
  checksHeadsOnConnect?: boolean;
  /** Whether system messages are kept in inboxes and taken back, and messages expire; false by default. */
  hasInboxes?: boolean;
  /** Whether consumers follow the feeds of organizations; false by default. */
  hasFeeds?: boolean;
  /** Bugs of the database that are to be found. */
  inboxFlaw?: InboxFlaw;
  expiryFlaw?: ExpiryFlaw;
  feedFlaw?: FeedFlaw;
  /** Traits of the world for any seed, for what only rare worlds show. */
  climate?: Partial<Climate>;
};

/** What happened in a world. */
export type Report = {
  seed: number;
  /** Broken promises; empty if all is well. */
  broken: string[];
  /** Everything that happened, one line each; empty unless requested. */
  trace: string[];
  hearings: Hearing[];
  /**
   * How many organizations there were, how often work waited for a thread, how often a node wrote to a part of a topic, and how
   * often an inbox was listed.
   */
  figures: {
    organizations: number;
    waits: number;
    partWrites: number;
    listings: number;
    /** How many events consumers of feeds were shown, and how often a cursor was refused. */
    shown: number;
    refusals: number;
  };
};

/** Plays the world of one seed to its end, and judges it. The same seed and variant give the same report. */
export function simulate(seed: number, variant: Variant, isTraced = false): Report {
  return inSimulatedTime((time) => runWorld(seed, variant, isTraced, time));
}

function runWorld(seed: number, variant: Variant, isTraced: boolean, time: SimulatedTime): Report {
  const { product, writing = "announces after the commit", checksHeadsOnConnect = true } = variant;
  const { hasInboxes = false, hasFeeds = false } = variant;
  const random = createRandom(seed);
  const traits = { ...chooseClimate(random), ...(hasInboxes ? chooseInboxes(random) : noInboxes) };
  const climate = { ...traits, ...(hasFeeds ? chooseFeeds(random) : noFeeds), ...variant.climate };
  const { inboxFlaw: inboxes, expiryFlaw: expiry, feedFlaw } = variant;
  const flaws = { keepsTexts: writing === "keeps texts that are taken back", inboxes, expiry, feeds: feedFlaw };
  const database = createDatabase(time.now, flaws);
  const orgs = names("o", climate.organizations);
  const uids = names("u", climate.users);
  const cids = names("c", climate.conversations);
  const broken: string[] = [];
  const trace: string[] = [];
  const hearings: Hearing[] = [];
  const listings: Listing[] = [];
  const feeds = { readings: [] as Reading[], refusals: [] as Refusal[] };
  const announcedAt = new Map<string, number>();
  const isActive = () => time.now() < climate.activeMs;
  let isOver = false;
  const note = (text: () => string) => {
    if (isTraced) trace.push(`${String(time.now()).padStart(6)} ms  ${text()}`);
  };
  const act = (count: number, actor: () => Promise<void>) => {
    for (let index = 0; index < count; index++)
      actor().catch((error: unknown) => broken.push(`the simulation itself fails: ${error}`));
  };
  note(() => `seed ${seed}: ${JSON.stringify(climate)}`);

  for (const org of orgs) populate(database, random, { org, uids, cids });
  const shared = { random, climate, database, now: time.now, isActive, note };
  const cluster = createCluster({
    ...shared,
    product,
    checksHeadsOnConnect,
    onSession: (token, session) => recordSession(hearings, token, session, time.now()),
    onCommit(node, events) {
      note(() => `${node.name} commits ${events.map(describe)}`);
      act(1, () => announceLater({ ...shared, announcedAt }, node, events));
    },
    onError: (error) => broken.push(error),
  });
  const { pickNode } = cluster;
  act(climate.writers, () => runWriter({ ...shared, writing, orgs, uids, cids, pickNode, announcedAt }));
  act(climate.readers, () =>
    runReader({ ...shared, plan: product.planReads, orgs, uids, cids, pickNode, announcedAt }),
  );
  act(climate.markers, () => runMarker({ ...shared, orgs, uids, pickNode, listings, tell: cluster.tell }));
  act(climate.clients, () => {
    const org = pickOrganization(random, climate, orgs);
    const uid = uids[random.integer(0, uids.length - 1)] ?? "";
    return runClient({ ...shared, hearings, pickNode, isOver: () => isOver }, org, uid);
  });
  act(climate.consumers, () => runConsumer({ ...shared, ...feeds, orgs, pickNode, isOver: () => isOver }));
  act(climate.bursts, () => runBurst({ ...shared, orgs, pickNode }));
  act(climate.restarts, cluster.restartNode);
  act(climate.bus.outages, cluster.breakBus);
  act(climate.bus.severances, cluster.severNodes);
  act(climate.failovers, cluster.failOver);
  act(climate.isPurged ? 1 : 0, async () => {
    for (;;) {
      await pause(purgeEveryMs);
      for (const org of orgs) database.purge(org, time.now() - retentionMs);
    }
  });

  try {
    time.pass(climate.activeMs + longestTroubleMs + climate.lastMs + settleMs(climate));
  } catch (error) {
    broken.push(`the world fails: ${error}`);
  }
  const history = { ...cluster, climate, hearings, announcedAt, organization: database.get, endedAt: time.now() };
  broken.push(
    ...judge(history),
    ...judgeListings(history, listings),
    ...judgeFeeds(database.get, feeds, history.endedAt),
  );
  for (const org of orgs.map(database.get))
    broken.push(...judgeReads(org), ...judgeMarks(org, time.now()), ...judgeEnds(history, org));
  const heardUntilNow = hearings.map((hearing) => ({ ...hearing }));
  isOver = true;
  for (const node of cluster.nodes()) node.leaveAll();
  time.pass(forgottenMs);
  for (const node of cluster.nodes()) {
    const held = node.held();
    if (held !== "") broken.push(`${node.name} holds ${held}, and nobody is connected`);
  }
  const sum = (of: (node: Node) => number) => cluster.nodes().reduce((total, node) => total + of(node), 0);
  const figures = {
    organizations: orgs.length,
    waits: sum(({ thread }) => thread.waits),
    partWrites: sum((node) => node.partWrites),
    listings: listings.length,
    shown: feeds.readings.reduce(
      (total, { lines }) => total + lines.filter(({ name }) => name !== undefined).length,
      0,
    ),
    refusals: feeds.refusals.length,
  };
  return { seed, broken, trace, hearings: heardUntilNow, figures };
}

/** Creates an organization with conversations that some of its users take part in. */
function populate(
  database: Database,
  random: Random,
  { org, uids, cids }: { org: string; uids: string[]; cids: string[] },
): void {
  database.create(org);
  const first = cids.map((cid, index): LogEvent => {
    const added = uids.filter(() => random.next() < 0.7);
    return database.prepare(org, index + 1, { kind: "membership", cid, change: { added, removed: [] } });
  });
  database.commit(org, first);
}

/** How long after the end of all trouble everyone must have heard everything. */
function settleMs(climate: Climate): number {
  const { store, large } = climate;
  return 2 * headCheckMs + 20 * store.latencyMs + (large > 0 ? 5_000 : 1_000) + threadMsOf(climate);
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}
