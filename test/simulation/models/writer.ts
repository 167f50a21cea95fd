import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { Random } from "../../harness/random.ts";
import { type Climate, pickOrganization } from "../climate.ts";
import { type Address, type Change, describe } from "./changes.ts";
import type { Database } from "./database.ts";
import type { Node } from "./node.ts";
import { pause } from "./time.ts";

/**
 * How a writer works. Only the first way is right; the others are bugs to be found: announcing events whose commit may
 * still fail, taking offsets like a sequence's, in another order than that of commits, and telling of a recall without
 * removing the texts.
 */
export type Writing =
  | "announces after the commit"
  | "announces early"
  | "takes offsets without a lock"
  | "keeps texts that are taken back";

/** What all writers share. */
export type Writers = {
  random: Random;
  climate: Climate;
  database: Database;
  writing: Writing;
  orgs: string[];
  uids: string[];
  cids: string[];
  now(): number;
  isActive(): boolean;
  pickNode(): Node | undefined;
  note(text: () => string): void;
  /** When each event was announced, by its id. */
  announcedAt: Map<string, number>;
};

/** Writes to organizations through any node, one transaction after another, until told to end. */
export async function runWriter(writers: Writers): Promise<void> {
  const { random, climate, isActive, pickNode, orgs } = writers;
  const gapMs = Math.ceil((climate.activeMs * climate.writers) / climate.writes);
  for (;;) {
    await pause(random.next() < 0.3 ? 1 : random.integer(1, 2 * gapMs));
    if (!isActive()) return;
    const node = pickNode();
    const org = pickOrganization(random, climate, orgs);
    if (node === undefined) continue;
    await write(writers, node, org);
  }
}

async function write(writers: Writers, node: Node, org: string): Promise<void> {
  const { random, climate, database, writing } = writers;
  const reserved = writing === "takes offsets without a lock" ? prepare(writers, org) : undefined;

  async function transact(): Promise<LogEvent[]> {
    const events = reserved ?? prepare(writers, org);
    if (writing === "announces early") announce(writers, node, events);
    const failovers = database.failovers();
    await pause(random.integer(0, climate.commitMs));
    if (!node.isAlive || database.failovers() !== failovers || random.next() < climate.aborts) return [];
    database.commit(org, events);
    node.expect(events);
    writers.note(() => `${node.name} commits ${events.map(describe)}`);
    return events;
  }

  const events = await (reserved === undefined ? database.get(org).lock.add("batch", transact) : transact());
  if (events.length > 0 && writing !== "announces early") await announceLater(writers, node, events);
}

/** Assigns the next offsets to the changes: those after the head, or, without a lock, those not yet assigned. */
function prepare(writers: Writers, org: string): LogEvent[] {
  const { random, database, writing } = writers;
  const organization = database.get(org);
  if (writing !== "takes offsets without a lock") organization.givenOut = organization.head;
  // A change of texts is alone in its transaction, as it depends on what is stored.
  const changes =
    chooseTextChanges(writers, org) ?? Array.from({ length: random.integer(1, 3) }, () => chooseChange(writers, org));
  return changes.map((one) => database.prepare(org, ++organization.givenOut, one));
}

/** An edit or a recall of recent messages, or a recall of system messages; `undefined` for any other change. */
function chooseTextChanges(writers: Writers, org: string): Change[] | undefined {
  const { random, climate, database, cids, uids } = writers;
  if (climate.systemRecalls > 0 && random.next() < climate.systemRecalls) {
    const sender = random.pick(uids);
    const named = database.newestSystemOf(org, sender, random.integer(1, 5)).slice(0, 3);
    return named.length === 0 ? undefined : database.planSystemRecalls(org, sender, named);
  }
  const chance = random.next();
  if (chance >= climate.edits + climate.recalls) return undefined;
  const cid = cids[random.integer(0, cids.length - 1)] ?? "";
  const ids = database.newestOf(org, cid, random.integer(1, 5));
  const [id] = ids;
  if (id === undefined) return undefined;
  return [chance < climate.edits ? { kind: "edit", cid, id } : { kind: "recall", cid, ids: ids.slice(0, 3) }];
}

function chooseChange(writers: Writers, org: string): Change {
  const { random, climate, database, uids, cids, now } = writers;
  const uid = uids[random.integer(0, uids.length - 1)] ?? "";
  const cid = cids[random.integer(0, cids.length - 1)] ?? "";
  if (random.next() < climate.signOuts) return { kind: "session", end: { uids: [uid], issuedBefore: now() } };
  if (random.next() < climate.membershipChanges) {
    const isParticipant = database.get(org).participants.get(cid)?.has(uid) === true;
    const change = isParticipant ? { added: [], removed: [uid] } : { added: [uid], removed: [] };
    return { kind: "membership", cid, change };
  }
  if (random.next() < climate.systems) {
    const to = random.next();
    if (to < 0.3) return systemMessage(writers, uid, { uids: [], cid });
    if (to < 0.6) return systemMessage(writers, uid, { uids: [], cid: undefined }); // everyone
    const others = uids.filter((other) => other !== uid && random.next() < 0.5);
    return systemMessage(writers, uid, { uids: [uid, ...others], cid: undefined });
  }
  const bytes = random.next() < climate.large ? climate.largeBytes : 20;
  return { kind: "message", cid, sender: uid, bytes, expiresAt: chooseExpiry(writers) };
}

/** When a send expires, if it does. */
function chooseExpiry({ random, climate, now }: Writers): number | undefined {
  if (climate.expiring === 0 || random.next() >= climate.expiring) return undefined;
  return now() + random.integer(1, climate.lastMs);
}

function systemMessage(writers: Writers, sender: string, address: Address): Change {
  const { random, climate, now } = writers;
  const message = { kind: "system" as const, sender, ...address, bytes: 0, expiresAt: chooseExpiry(writers) };
  if (climate.kept === 0) return message;
  const until = now() + random.integer(1, climate.keptMs);
  const key = random.next() < climate.keys ? random.pick(["k1", "k2"]) : undefined;
  return {
    ...message,
    bytes: random.next() < climate.large ? climate.largeBytes : 0,
    isSilent: random.next() < climate.silent,
    kept: random.next() < climate.kept ? { until, key } : undefined,
  };
}

type Announcing = Pick<Writers, "random" | "climate" | "note" | "now" | "announcedAt">;

/** Announces committed events a moment later, unless the node crashes before. */
export async function announceLater(announcing: Announcing, node: Node, events: LogEvent[]): Promise<void> {
  const { random, climate } = announcing;
  await pause(random.integer(0, climate.announceMs));
  if (random.next() >= climate.crashesBeforeAnnouncing) announce(announcing, node, events);
}

/** Announces committed events to the other nodes, unless the node is gone. */
function announce(
  { note, now, announcedAt }: Pick<Writers, "note" | "now" | "announcedAt">,
  node: Node,
  events: LogEvent[],
): void {
  if (!node.isAlive) return;
  node.bus.publish(events);
  for (const { id } of events) announcedAt.set(id, now());
  note(() => `${node.name} announces ${events.map(({ id }) => id)}`);
}
