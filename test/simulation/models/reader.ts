import type { NewRead } from "../../../src/store/reads/ports.ts";
import { eventKey } from "../../../src/store/reads/read-plan.ts";
import type { Product } from "../product.ts";
import { describe } from "./changes.ts";
import type { Node } from "./node.ts";
import { markKey, type Organization } from "./organization.ts";
import { pause } from "./time.ts";
import { announceLater, type Writers } from "./writer.ts";

const mostNamed = 100;

/** What all readers share. */
export type Readers = Omit<Writers, "writing"> & { plan: Product["planReads"] };

/** Marks conversations as read through any node, one after another, until told to end. */
export async function runReader(readers: Readers): Promise<void> {
  const { random, climate, isActive, pickNode } = readers;
  const gapMs = Math.ceil(climate.activeMs / climate.writes);
  for (;;) {
    await pause(random.integer(1, 2 * gapMs));
    if (!isActive()) return;
    const node = pickNode();
    if (node !== undefined) await read(readers, node, random.pick(readers.orgs));
  }
}

/** Looks beside the commits, as the store does, and commits later. */
async function read(readers: Readers, node: Node, org: string): Promise<void> {
  const { random, climate, database, uids, cids, now, plan, note } = readers;
  const place = { org, cid: random.pick(cids), uid: random.pick(uids) };
  const { head } = database.get(org);
  const upTo = random.next() < 0.5 ? head : random.integer(0, head);
  const unread = database.unreadOf(org, place, upTo)?.slice(-mostNamed) ?? [];
  await pause(random.integer(0, climate.commitMs + climate.store.latencyMs));
  if (unread.length === 0 || !node.isAlive) return;
  // Its event tells the time in seconds; a thousand times as fast, it tells a read from its repetition after a failover.
  const call: NewRead = { ...place, unread, now: now() * 1_000, keyId: undefined };

  const events = await database.get(org).lock.add("batch", async () => {
    const failovers = database.failovers();
    const { events: planned, moved } = plan([call], foundIn(database.get(org), call));
    await pause(random.integer(0, climate.commitMs));
    const isOver = !node.isAlive || database.failovers() !== failovers;
    if (isOver || planned.length === 0 || random.next() < climate.aborts) return [];
    const first = database.get(org).head + 1;
    const stored = planned.map(({ uids: authors = [], payload }, index) =>
      database.prepare(org, first + index, { kind: "read", uids: authors, payload }),
    );
    database.commit(org, stored, { moves: moved });
    note(() => `${node.name} commits ${stored.map(describe)}`);
    return stored;
  });
  if (events.length > 0) await announceLater(readers, node, events);
}

/** What the commit finds under its lock. */
function foundIn({ id: org, marks, participants, commits }: Organization, { cid, unread }: NewRead) {
  const members = [...(participants.get(cid) ?? [])];
  const newest = unread.at(-1)?.offset ?? 0;
  const id = commits[newest]?.event.id;
  return {
    marks,
    participants: new Set(members.map((uid) => markKey(org, { cid, uid }))),
    ids: new Map(id === undefined ? [] : [[eventKey({ org, offset: newest }), id]]),
  };
}
