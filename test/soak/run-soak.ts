import { findChromium } from "../console/browser.ts";
import { type Authors, author, type Deeds, reader, sendLines, write } from "../faults/changes/authors.ts";
import { judgeChanges } from "../faults/changes/judge.ts";
import { leftBehind } from "../faults/judging/left-behind.ts";
import { type SpoiltLine, startSpoiltLine } from "../harness/clients/spoilt-line.ts";
import { createRandom, type Random } from "../harness/random.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { serveSite, startBrowser } from "./browser.ts";
import { type Seat, startProcess } from "./device.ts";
import { startDisturbances } from "./disturbances.ts";
import { type Account, judgeLedgers } from "./judge.ts";
import type { Ledger, Transport } from "./recorder.ts";
import { readStored } from "./stored.ts";

/** How long and how hard. */
export type SoakOptions = {
  seconds: number;
  /** Clients in processes, and how many processes. */
  clients: number;
  processes: number;
  /** Further clients, each in a page in Chromium. */
  pages: number;
  nodes: number;
  /** About how many messages, edits and recalls clients hear in a second, all together. */
  deliveriesPerSecond: number;
  /** The longest time between disturbances, and the longest that one lasts. */
  everyMs: number;
  longestMs: number;
  seed: number;
};

/** What came of it. `faults` is empty if all is well. */
export type SoakResult = Omit<Account, "faults"> & {
  seed: number;
  seconds: number;
  clients: number;
  stored: number;
  recalled: number;
  /** What the clients of each transport heard, and how often they connected. */
  transports: Record<string, { clients: number; deliveries: number; connections: number }>;
  deliveries: number;
  disturbances: Record<string, number>;
  faults: string[];
};

/** About how many participants a conversation has, and how many clients are in how many of them. */
const roomSize = 20;
const roomsPerUser = 2;
const writers = 16;
/** Events that clients hear of one message that is written: the message, its edits, half of a recall. */
const eventsPerMessage = 2.5;
/** About half of the clients are behind a firewall that blocks WebSockets. */
const transports: Transport[] = ["websocket", "sse"];
const allTransports: Transport[] = [...transports, "page"];
/** Some tokens expire several times in a run. */
const tokenSeconds = [45, 90, 3_600];
const settleWithinMs = 90_000;

/**
 * Lets clients listen to a cluster whose lines, nodes and devices are disturbed, while messages are written, edited, read and taken
 * back, with the default limits. At the end all is healed, and each client is compared with the database. `undefined` without
 * PostgreSQL or NATS.
 */
export async function runSoak(options: SoakOptions, tell: (text: string) => void): Promise<SoakResult | undefined> {
  const random = createRandom(options.seed);
  await using stack = new AsyncDisposableStack();
  const chromium = options.pages > 0 ? findChromium() : undefined;
  const site = stack.use(await serveSite());
  const cluster = await startCluster({ nodes: options.nodes, env: () => ({ HERALD_ALLOWED_ORIGINS: site.origin }) });
  if (cluster === undefined || (options.pages > 0 && chromium === undefined)) return undefined;
  stack.use(cluster);
  const org = await createOrganization(cluster.node(0).herald);
  const uids = Array.from({ length: options.clients + options.pages }, (_, index) => `user ${index}`);
  const rooms = planRooms(uids, random);
  for (const [cid, members] of rooms) await org.conversation([author, reader, ...members], cid);
  const roomsOf = (uid: string) => [...rooms].flatMap(([cid, members]) => (members.has(uid) ? cid : []));

  const devices = Array.from({ length: options.processes }, () => stack.use(startProcess()));
  if (chromium !== undefined) devices.push(stack.use(await startBrowser(chromium, site)));
  const lines = await Promise.all(devices.map(() => Promise.all(cluster.nodes.map(({ url }) => drawLine(url, stack)))));
  const sit = (uid: string, index: number, device: number, transport: Transport): Seat => {
    const own = lines[device] ?? [];
    const urls = own.map((_, turn) => `http://127.0.0.1:${own[(index + turn) % own.length]?.port}`);
    return { org: org.id, uid, urls, rooms: roomsOf(uid), transport, tokenSeconds: random.pick(tokenSeconds) };
  };
  const seats = devices.map((_, device) =>
    uids.flatMap((uid, index) => {
      const isPage = index >= options.clients;
      const own = isPage ? options.processes : index % options.processes;
      return own === device ? sit(uid, index, device, isPage ? "page" : random.pick(transports)) : [];
    }),
  );
  await Promise.all(devices.map((device, index) => device.listen(seats[index] ?? [])));
  tell(`${uids.length} clients are connected to ${options.nodes} nodes`);

  const deeds: Deeds = { written: [], batched: [], scheduled: [], notices: [] };
  const cids = [...rooms.keys()];
  let texts = 0;
  const createText = () => `text ${++texts} of ${org.id}`;
  const authorsOf = (cid: string): Authors => ({
    nodes: cluster.nodes,
    random,
    org: org.id,
    cid,
    createText,
    losesTail: false,
    deeds,
  });
  // So that what a client hears begins with the first message, and any loss after it shows.
  const sendEach = async (body: string) => {
    const ids = cids.map(async (cid) => [cid, (await org.sent(author, { cid, body })).server_mid] as const);
    return new Map(await Promise.all(ids));
  };
  await sendEach("the first");

  const startedAt = performance.now();
  const elapsedSeconds = () => (performance.now() - startedAt) / 1_000;
  /** How many events clients should have heard of by now, and have heard of. */
  const due = () => (elapsedSeconds() * options.deliveriesPerSecond) / roomSize;
  const done = () => deeds.written.length * eventsPerMessage + deeds.batched.length;
  async function keepWriting(): Promise<void> {
    while (elapsedSeconds() < options.seconds) {
      if (done() > due()) await Bun.sleep(random.next() * 200);
      else await (random.next() < 0.05 ? sendLines : write)(authorsOf(random.pick(cids)));
    }
  }
  const { everyMs, longestMs } = options;
  const disturbances = startDisturbances({
    stage: { nodes: cluster.nodes, devices, lines },
    random,
    everyMs,
    longestMs,
  });
  const writing = await Promise.allSettled(Array.from({ length: writers }, keepWriting));
  await disturbances.end();
  for (const written of writing) if (written.status === "rejected") throw written.reason;
  tell(`${deeds.written.length + deeds.batched.length} messages are written; all is healed`);

  const last = await sendEach("the last");
  const lastOf = Object.fromEntries(uids.map((uid) => [uid, roomsOf(uid).flatMap((cid) => last.get(cid) ?? [])]));
  const ledgers = (await Promise.all(devices.map((device) => device.account(lastOf, settleWithinMs)))).flat();
  const stored = await readStored(cluster.databaseUrl, org, cids);
  const { faults, ...figures } = judgeLedgers({ stored, ledgers, roomsOf: (uid) => new Set(roomsOf(uid)) });
  const listed = new Map(
    stored.flatMap(({ id, text }): [string, string][] => (text === undefined ? [] : [[id, text]])),
  );
  faults.push(...judgeChanges({ deeds, listed, inbox: [], listeners: [], losesTail: false }));
  await Promise.all(devices.map((device) => device[Symbol.asyncDispose]()));
  faults.push(...(await leftBehind(cluster.nodes)));
  return {
    seed: options.seed,
    seconds: options.seconds,
    clients: ledgers.length,
    stored: stored.length,
    recalled: stored.filter(({ text }) => text === undefined).length,
    deliveries: sum(ledgers, ({ deliveries }) => deliveries),
    transports: Object.fromEntries(allTransports.map((transport) => [transport, sumsOf(ledgers, transport)])),
    disturbances: disturbances.counts,
    ...figures,
    faults,
  };
}

function sum(ledgers: readonly Ledger[], count: (ledger: Ledger) => number): number {
  return ledgers.reduce((total, ledger) => total + count(ledger), 0);
}

function sumsOf(ledgers: readonly Ledger[], transport: Transport) {
  const own = ledgers.filter((ledger) => ledger.transport === transport);
  return {
    clients: own.length,
    deliveries: sum(own, ({ deliveries }) => deliveries),
    connections: sum(own, ({ connections }) => connections),
  };
}

async function drawLine(url: string, stack: AsyncDisposableStack): Promise<SpoiltLine> {
  return stack.adopt(await startSpoiltLine(Number(new URL(url).port)), (line) => line.stop());
}

/** Conversations, each with its participants: every user is in two of them, which differ from those of others. */
function planRooms(uids: readonly string[], random: Random): Map<string, ReadonlySet<string>> {
  const count = Math.max(2, Math.round((uids.length * roomsPerUser) / roomSize));
  const rooms = Array.from({ length: count }, () => new Set<string>());
  for (const [index, uid] of uids.entries()) {
    const first = index % count;
    for (const room of [first, (first + random.integer(1, count - 1)) % count]) rooms[room]?.add(uid);
  }
  return new Map(rooms.map((members, index) => [`room ${index}`, members]));
}
