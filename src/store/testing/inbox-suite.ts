import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import { timeOf } from "../../lib/timed-ranges.ts";
import { noMarks } from "../inbox/ports.ts";
import type { ImportedSystemMessage } from "../transfer/ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;
const uids = ["u1", "u2", "u3", "u4"];
const cids = ["c1", "c2"];

/** What a plain model knows of a kept system message: who has it, and until when. */
type Item = {
  offset: number;
  mid: string;
  sender: string;
  key: string | undefined;
  until: number;
  silent: true | undefined;
  owners: Set<string>;
  seen: Set<string>;
  read: Set<string>;
  /** When it expires, by the time of the world, and whether it has been taken back or ended. */
  expiresAt: number | undefined;
  isGone: boolean;
};

/** A seeded source of choices. */
function createRandom(seed: number) {
  let asked = 0;
  const next = () => Bun.hash.xxHash32(`${seed} ${asked++}`) / 2 ** 32;
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  const pick = (items: readonly string[]) => items[integer(0, items.length - 1)] ?? "";
  return { seed, next, integer, pick };
}

/** Tests the ports of inboxes against a plain model, for every engine. */
export function describeInboxes(engine: string, open: OpenDatabase): void {
  describe(`inboxes on ${engine}`, () => {
    const context = useStore(open);

    async function list(org: string, uid: string, now: number, after = { past: Number.MIN_SAFE_INTEGER, log: 0 }) {
      const { inboxes } = context.store;
      const items = await inboxes.items(org, uid, { after, now });
      return await inboxes.places(
        org,
        items.map(({ offset }) => offset),
      );
    }

    test("hold what a plain model holds, after any sends, imports, replacements, marks, recalls, expiries, leaves, deletions and days", async () => {
      const random = createRandom(Number(process.env.TEST_SEED ?? Date.now() % 1_000_000_007));
      for (let world = 0; world < 4; world++) await playWorld(random);
    }, 60_000);

    async function playWorld(random: ReturnType<typeof createRandom>): Promise<void> {
      const { store } = context;
      const org = await context.createOrganization(uids);
      await store.conversations.put(org, "c2", { participants: ["u1", "u2"] }, 1);
      const members = new Map([
        ["c1", new Set(uids)],
        ["c2", new Set(["u1", "u2"])],
      ]);
      const items: Item[] = [];
      const future = Date.now() + 3_600_000; // the database's clock does not come so far: the worlds say what has expired
      let now = 1_000;
      let sent = 0;

      const inboxOf = (uid: string) => {
        const own = items.filter(({ owners }) => owners.has(uid));
        const isReplaced = ({ key, sender, offset }: Item) =>
          key !== undefined && own.some((one) => one.key === key && one.sender === sender && one.offset > offset);
        const isThere = (item: Item) => item.until > now && !item.isGone && !isReplaced(item);
        return own.filter(isThere).sort((one, other) => other.offset - one.offset);
      };

      let imported = 0;

      async function keep({ isImported }: { isImported: boolean }): Promise<void> {
        const mid = `s${sent++}`;
        const sender = random.pick(["u1", "u2"]);
        const address = random.integer(0, 2);
        const cid = address === 1 ? random.pick(cids.filter((one) => members.get(one)?.has(sender))) : undefined;
        const named = address === 0 ? uids.filter(() => random.next() < 0.5) : [];
        if (address === 0 && named.length === 0) return;
        const key = random.next() < 0.4 ? random.pick(["k1", "k2"]) : undefined;
        const until = now + random.integer(1, 400);
        const expiresAt = random.next() < 0.3 ? now + random.integer(1, 60) : undefined;
        const silent = random.next() < 0.2 ? true : undefined;
        const options = { kept: { until, key }, silent, expiresAt: expiresAt && future + expiresAt } as const;
        const message = { cid, sender, mid, uids: named, ...options };
        const owners = new Set(cid !== undefined ? members.get(cid) : address === 0 ? named : uids);
        const offset = isImported ? await importOne(message) : await send(message);
        const marks = { seen: new Set<string>(), read: new Set<string>() };
        items.push({ offset, mid, sender, key, until, silent, owners, ...marks, expiresAt, isGone: false });
      }

      type Made = Pick<ImportedSystemMessage, "cid" | "sender" | "mid" | "uids" | "kept" | "silent" | "expiresAt">;

      async function send(message: Made): Promise<number> {
        const outcome = await store.sends.append(messageOf(org, { kind: "system", ...message }));
        if (outcome.outcome !== "stored") throw new Error(JSON.stringify(outcome));
        return outcome.offset;
      }

      async function importOne(message: Made): Promise<number> {
        const payload = JSON.stringify({ system_message: { _id: message.mid } });
        const event = { kind: "system_message", id: createId(now), payload, createdAt: now } as const;
        const item = { ...event, ...message, recipients: message.uids, isOver: false };
        const part = { org, items: [item], maxParticipants: 9, hasRoom: true, keyId: "k", now };
        expect(await store.imports.add(part)).toMatchObject({ faults: [], written: 1 });
        return Number.MIN_SAFE_INTEGER + ++imported;
      }

      async function mark(): Promise<void> {
        const uid = random.pick(uids);
        const [seenOnly, isAll] = [random.next() < 0.4, random.next() < 0.3];
        const inbox = inboxOf(uid);
        const named = inbox.filter(() => random.next() < 0.3).map(({ mid }) => mid);
        const head = (await store.log.heads([org])).get(org);
        const marked = isAll
          ? (await list(org, uid, now)).map((place) => ({ ...place, before: 0 }))
          : await store.inboxes.named(org, uid, [...named, "nothing"], now);
        if (!isAll) expect(marked.map(({ mid }) => mid)).toEqual(named);
        await store.inboxes.markAll([{ org, uid, items: marked, upTo: isAll ? head : undefined, seenOnly, now }]);
        if (marked.length === 0) return;
        for (const item of items.filter(({ owners }) => owners.has(uid))) {
          if (!isAll && !named.includes(item.mid)) continue;
          item.seen.add(uid);
          if (!seenOnly) item.read.add(uid);
        }
      }

      async function recall(): Promise<void> {
        const sender = random.pick(["u1", "u2"]);
        const known = items.filter((item) => item.sender === sender && !item.isGone);
        const item = known[random.integer(0, known.length - 1)];
        if (item === undefined) return;
        const { mid } = item;
        const outcome = await store.systemRecalls.recall({ org, sender, at: now, keyId: "k", ids: [mid] });
        expect(outcome.outcome).toBe("changed");
        item.isGone = true;
      }

      async function expire(): Promise<void> {
        const expired = items.filter(({ expiresAt, isGone }) => !isGone && expiresAt !== undefined && expiresAt <= now);
        expect(await store.expiry.endSome(org, future + now)).toBe(expired.length);
        for (const item of expired) item.isGone = true;
      }

      /** Who is created again sees nothing from before. */
      async function createAgain(): Promise<void> {
        const uid = random.pick(["u3", "u4"]);
        await store.users.remove(org, uid, now);
        await store.users.put(org, uid, undefined, now);
        for (const one of members.values()) one.delete(uid);
        for (const { owners, seen, read } of items) for (const users of [owners, seen, read]) users.delete(uid);
      }

      async function changeMembers(): Promise<void> {
        const [cid, uid] = [random.pick(cids), random.pick(["u3", "u4"])];
        const there = members.get(cid);
        if (there?.delete(uid)) await store.conversations.put(org, cid, { participants: [...there] }, now);
        else await store.participants.add(org, cid, uid, 100, now);
        if (!there?.has(uid) && (await store.participants.has(org, cid, uid))) there?.add(uid);
      }

      for (let step = 0; step < 60; step++) {
        now += random.integer(0, 10);
        const chance = random.next();
        if (chance < 0.55) await keep({ isImported: random.next() < 0.25 });
        else if (chance < 0.75) await mark();
        else if (chance < 0.82) await recall();
        else if (chance < 0.88) await expire();
        else if (chance < 0.9) await createAgain();
        else await changeMembers();
        const uid = random.pick(uids);
        const expected = inboxOf(uid);
        const about = `seed ${random.seed}, step ${step}, ${uid}`;
        const listed = await list(org, uid, now);
        if (listed.map(({ mid }) => mid).join() !== expected.map(({ mid }) => mid).join())
          throw new Error(`${about}: ${listed.map(({ mid }) => mid)} instead of ${expected.map(({ mid }) => mid)}`);
        const marks = await store.inboxes.marks(org, uid);
        const unread = expected.filter(({ read }) => !read.has(uid)).map(({ mid }) => mid);
        const left = listed.filter(({ offset }) => timeOf(marks.read, offset) === undefined).map(({ mid }) => mid);
        if (left.join() !== unread.join()) throw new Error(`${about}: unread are ${left} instead of ${unread}`);
        const last = Math.max(0, marks.read.at(-1)?.[1] ?? 0);
        const after = await list(org, uid, now, { past: 0, log: last });
        expect(after).toEqual(listed.filter(({ offset }) => offset > last));
        const whole = { past: Number.MIN_SAFE_INTEGER, log: 0 };
        const middle = listed[3]?.offset ?? 1;
        const older = await store.inboxes.newest(org, uid, { after: whole, before: middle, limit: 2, now });
        const olderOnes = listed.filter(({ offset }) => offset < middle).slice(0, 2);
        expect(older.map(({ offset }) => offset)).toEqual(olderOnes.map(({ offset }) => offset));
        const unsilent = expected.filter(({ offset, silent }) => offset <= middle && !silent).length;
        const counts = { items: listed.length, unsilent };
        expect(await store.inboxes.count(org, uid, { after: whole, upTo: middle, now })).toEqual(counts);
        const upTo = (await store.log.heads([org])).get(org)?.offset ?? 0;
        const range = { after: 0, upTo, now, limit: 1_000 };
        const missed = await store.inboxes.readMissedKept(org, uid, { ...range, maxBytes: mebibyte });
        expect(await store.inboxes.countMissedKept(org, uid, range)).toBe(missed.length);
        const offsets = new Set(missed.map(({ offset }) => offset));
        for (const { offset } of expected)
          if (offset > 0 && !offsets.has(offset)) throw new Error(`${about}: misses ${offset}`);
        const told = missed.filter(({ kind }) => kind === "system_recall").map(({ payload }) => payload);
        for (const { mid, owners, until, key, isGone } of items) {
          const isAwaited = isGone && key === undefined && owners.has(uid) && until > now;
          if (isAwaited && !told.some((text) => text.includes(`"${mid}"`)))
            throw new Error(`${about}: misses the recall of ${mid}`);
        }
        const mine = items.filter(({ owners, isGone }) => owners.has(uid) && !isGone).map(({ offset }) => offset);
        const strange = missed.find(({ offset, kind }) => kind === "system" && !mine.includes(offset));
        if (strange !== undefined) throw new Error(`${about}: hears of ${strange.offset}`);
      }
    }

    test("tell what is newly marked once, newest first, in events of at most 1,000 ids", async () => {
      const { store, announced } = context;
      const org = await context.createOrganization(["u1", "u2"]);
      const sends = Array.from({ length: 1_200 }, (_, index) =>
        messageOf(org, { kind: "system", cid: undefined, mid: `s${index}`, uids: ["u2"], kept: { until: 9_000 } }),
      );
      await Promise.all(sends.map((send) => store.sends.append(send)));
      const places = await list(org, "u2", 1);
      const upTo = { offset: 2_000, id: undefined };
      const all = { org, uid: "u2", items: places.map((place) => ({ ...place, before: 0 })), upTo, now: 5_000 };
      announced.length = 0;
      await store.inboxes.markAll([
        { ...all, seenOnly: true },
        { ...all, seenOnly: false },
        { ...all, seenOnly: false },
      ]);
      const told = announced.map(({ payload, uids }) => {
        const { ids, seen } = JSON.parse(payload).system_message_read;
        return [uids, ids.length, ids[0], ids.at(-1), seen];
      });
      expect(told).toEqual([
        [["u2"], 1_000, "s1199", "s200", true],
        [["u2"], 200, "s199", "s0", true],
        [["u2"], 1_000, "s1199", "s200", false],
        [["u2"], 200, "s199", "s0", false],
      ]);
      const marks = await store.inboxes.marks(org, "u2");
      expect([marks.seen.length, marks.read.length]).toEqual([1, 1]);
      expect(await store.inboxes.marks(org, "u1")).toBe(noMarks);
    });

    test("mark nothing if another event stands where the newest item, or the end of the log, stood", async () => {
      const { store, announced } = context;
      const org = await context.createOrganization(["u1"]);
      await store.sends.append(
        messageOf(org, { kind: "system", cid: undefined, uids: ["u1"], kept: { until: 9_000 } }),
      );
      const [place] = await list(org, "u1", 1);
      if (place === undefined) throw new Error("there is one");
      announced.length = 0;
      const items = [{ ...place, id: createId(), before: 0 }];
      await store.inboxes.markAll([{ org, uid: "u1", items, upTo: undefined, seenOnly: false, now: 1 }]);
      const upTo = { offset: place.offset, id: createId() };
      const there = [{ ...place, before: 0 }];
      await store.inboxes.markAll([{ org, uid: "u1", items: there, upTo, seenOnly: false, now: 1 }]);
      expect(announced).toEqual([]);
      expect(await store.inboxes.marks(org, "u1")).toBe(noMarks);
    });
  });
}
