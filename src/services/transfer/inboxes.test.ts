import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import { toIso } from "../../contract/identifiers.ts";
import { defaultPayloadLimits } from "../../contract/limits.ts";
import { objectWith } from "../../lib/json/json-values.ts";
import { timeOf } from "../../lib/timed-ranges.ts";
import { migrateStore } from "../../store/migrate.ts";
import { connectPostgres } from "../../store/postgres/postgres.ts";
import type { Driver } from "../../store/sql/driver.ts";
import { openSqlite } from "../../store/sqlite/sqlite.ts";
import { createTestStore } from "../../store/testing/test-store.ts";
import { unlisted } from "../keys/permissions.ts";
import { toSystemSend } from "../messages/messages.ts";
import { organizationPages } from "./export-pages.ts";
import { createLineReader } from "./import-lines.ts";

setDefaultTimeout(60_000);

type Store = ReturnType<typeof createTestStore>;
type Random = ReturnType<typeof createRandom>;
type Sent = { sender: string; mid: string };

const dayMs = 24 * 3_600_000;
const senders = ["s1", "s2"];
const uids = ["u1", "u2", "u3", "u4"];
const cids = ["c1", "c2"];
const caller = unlisted("k");
const keptForEver = {
  messagesBefore: undefined,
  readsBefore: undefined,
  auditBefore: undefined,
  revocationsBefore: undefined,
  deletedBefore: 0,
};

/** A seeded source of choices. */
function createRandom(seed: number) {
  let asked = 0;
  const next = () => Bun.hash.xxHash32(`${seed} ${asked++}`) / 2 ** 32;
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[integer(0, items.length - 1)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
  return { seed, next, integer, pick };
}

/** An organization in which users come and go between system messages, which they mark and senders take back. */
function createWorld(store: Store, random: Random, org: string, clock: { now: number }) {
  const sent: Sent[] = [];
  let count = 0;

  function createMessage() {
    const address = random.pick([{ everyone: true as const }, { cid: random.pick(cids) }, { uids: someUsers() }]);
    const key = random.next() < 0.4 ? { key: random.pick(["k1", "k2"]) } : {};
    const silent = random.next() < 0.2 ? { silent: true as const } : {};
    return {
      sender: random.pick(senders),
      id: `m${count++}`,
      content: { x: { count }, ...address, ...key, ...silent },
    };
  }

  async function send(): Promise<void> {
    const { sender, id: newId, content } = createMessage();
    const id = random.next() < 0.1 ? "again" : newId;
    const messageSystem = { id, keep_days: random.integer(1, 20), ...content };
    const request = { organizationId: org, senderId: sender, messageSystem };
    const outcome = await store.sends.append(await toSystemSend(caller, request, clock.now));
    if (outcome.outcome === "stored") sent.push({ sender, mid: id });
  }

  /** Imports a system message of another system. */
  async function importOne(): Promise<void> {
    const { sender: senderId, id, content } = createMessage();
    if ("uids" in content && (await store.sent.strangersAmong(org, content.uids)).length > 0) return;
    const [from, until] = [clock.now - random.integer(0, 9) * dayMs, clock.now + random.integer(-1, 20) * dayMs];
    const times = { created_at: toIso(from), kept_until: toIso(Math.max(from, until)) };
    const line = JSON.stringify({ system_message: { id: `old ${id}`, senderId, ...content, ...times } });
    await imported(store, random, org, [line], clock.now);
  }

  /** Removes what is not kept any more, and forgets ids, which senders use again. */
  async function tidyUp(): Promise<void> {
    const { now } = clock;
    const order = { holder: "test", now, leaseMs: 1, limit: 100, idsBefore: now - dayMs };
    while ((await store.retention.step({ ...keptForEver, ...order, now: clock.now++ })) !== 0);
  }

  function someUsers(): string[] {
    const some = uids.filter(() => random.next() < 0.5);
    return some.length === 0 ? [random.pick(uids)] : some;
  }

  async function mark(): Promise<void> {
    const uid = random.pick(uids);
    const seenOnly = random.next() < 0.4;
    const places = await placesIn(store, org, uid, clock.now);
    const isAll = random.next() < 0.3;
    const named = places.filter(() => random.next() < 0.4).map(({ mid }) => mid);
    const items = isAll
      ? places.map((place) => ({ ...place, before: 0 }))
      : await store.inboxes.named(org, uid, named, clock.now);
    const upTo = isAll ? (await store.log.heads([org])).get(org) : undefined;
    await store.inboxes.markAll([{ org, uid, items, upTo, seenOnly, now: clock.now }]);
  }

  async function recall(): Promise<void> {
    if (sent.length === 0) return;
    const { sender, mid } = random.pick(sent);
    await store.systemRecalls.recall({ org, sender, at: clock.now, keyId: "k", ids: [mid] });
  }

  async function changeUser(): Promise<void> {
    const uid = random.pick(uids);
    if (random.next() < 0.3) await store.users.remove(org, uid, clock.now);
    else await store.users.put(org, uid, undefined, clock.now);
  }

  async function changeParticipant(): Promise<void> {
    const [cid, uid] = [random.pick(cids), random.pick([...uids, ...uids, ...senders])];
    const isThere = await store.participants.has(org, cid, uid);
    if (isThere) await store.participants.remove(org, cid, uid, clock.now);
    else await store.participants.add(org, cid, uid, 100, clock.now);
  }

  return {
    async begin() {
      await store.organizations.put(org, undefined, clock.now);
      for (const uid of [...senders, "u1", "u2"]) await store.users.put(org, uid, undefined, clock.now);
      for (const cid of cids) await store.conversations.put(org, cid, { participants: [...senders, "u1"] }, clock.now);
    },
    async play(steps: number) {
      for (let step = 0; step < steps; step++) {
        clock.now += random.integer(1, dayMs / 4);
        const chance = random.next();
        if (chance < 0.45) await send();
        else if (chance < 0.6) await mark();
        else if (chance < 0.67) await recall();
        else if (chance < 0.7) await tidyUp();
        else if (chance < 0.75) await importOne();
        else if (chance < 0.83) await changeUser();
        else await changeParticipant();
      }
    },
  };
}

async function placesIn(store: Store, org: string, uid: string, now: number) {
  const items = await store.inboxes.items(org, uid, { after: { past: Number.MIN_SAFE_INTEGER, log: 0 }, now });
  return await store.inboxes.places(
    org,
    items.map(({ offset }) => offset),
  );
}

/** What each user sees: the texts of the items, newest first, with their marks, and which of them are silent. */
async function inboxesIn(store: Store, org: string, now: number) {
  const all: Record<string, unknown> = {};
  for (const uid of [...senders, ...uids]) {
    if ((await store.users.get(org, uid)) === undefined) continue;
    const items = await store.inboxes.items(org, uid, { after: { past: Number.MIN_SAFE_INTEGER, log: 0 }, now });
    const silent = new Map(items.map(({ offset, isSilent }) => [offset, isSilent]));
    const { seen, read } = await store.inboxes.marks(org, uid);
    const offsets = items.map(({ offset }) => offset);
    all[uid] = (await store.history.messagesAt(org, offsets)).map(({ offset, payload }) => {
      const marks = [timeOf(seen, offset), timeOf(read, offset)];
      return [objectWith(payload, "system_message")?.system_message, ...marks, silent.get(offset)];
    });
  }
  return all;
}

async function linesOf(pages: AsyncGenerator<object[], void>): Promise<string[]> {
  const lines: string[] = [];
  for await (const page of pages) lines.push(...page.map((line) => JSON.stringify(line)));
  return lines;
}

async function exported(store: Store, org: string, now: number): Promise<string[]> {
  const head = (await store.log.heads([org])).get(org)?.offset ?? 0;
  return await linesOf(organizationPages(store.exports, { org, head, now }));
}

/** Imports lines in parts of any size, and returns how many of them changed something. */
async function imported(store: Store, random: Random, org: string, lines: readonly string[], now: number) {
  const reader = createLineReader({ limits: defaultPayloadLimits, participantsOfItem: 2, now: () => now });
  const items = lines.flatMap((line) => reader.read(line, { org, keepsIds: true }));
  let written = 0;
  while (items.length > 0) {
    const part = { items: items.splice(0, random.integer(1, 20)), maxParticipants: 100, hasRoom: true, keyId: "k" };
    const outcome = await store.imports.add({ org, now, ...part });
    expect(outcome?.faults).toEqual([]);
    written += outcome?.written ?? 0;
  }
  return written;
}

let worlds = 0;

async function playAndMove(store: Store, random: Random): Promise<void> {
  const clock = { now: 1_700_000_000_000 };
  const orgOf = (home: number) => `world-${worlds}-${home}`;
  worlds++;
  await createWorld(store, random, orgOf(0), clock).begin();
  for (let home = 0; home < 3; home++) {
    const [org, next] = [orgOf(home), orgOf(home + 1)];
    await createWorld(store, random, org, clock).play(40);
    const [lines, before] = [await exported(store, org, clock.now), await inboxesIn(store, org, clock.now)];
    await store.organizations.put(next, undefined, clock.now);
    await imported(store, random, next, lines, clock.now);
    const about = `seed ${random.seed}, move ${home}`;
    expect([about, await inboxesIn(store, next, clock.now)]).toEqual([about, before]);
    expect([about, await imported(store, random, next, lines, clock.now)]).toEqual([about, 0]);
    expect([about, await imported(store, random, org, lines, clock.now)]).toEqual([about, 0]);
    expect([about, await exported(store, next, clock.now)]).toEqual([about, lines]);
    const later = clock.now + 10 * dayMs;
    expect([about, await inboxesIn(store, next, later)]).toEqual([about, await inboxesIn(store, org, later)]);
  }
}

function describeMoves(engine: string, open: () => Promise<Driver>): void {
  test(`inboxes are the same after a move, again and again, on ${engine}`, async () => {
    const driver = await open();
    await migrateStore(driver);
    const store = createTestStore(driver);
    const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000_007);
    for (let world = 0; world < 3; world++) await playAndMove(store, createRandom(seed + world));
    await driver.close();
  });
}

const folder = mkdtempSync(join(tmpdir(), "herald-moves-"));
afterAll(() => rmSync(folder, { recursive: true }));
describeMoves("SQLite", async () => openSqlite(join(folder, "herald.db")));

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());
  describeMoves("PostgreSQL", async () => connectPostgres(await postgres.createDatabase()));
}
