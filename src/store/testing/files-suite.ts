import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { AttachmentPlace, NamedFile, StoredFile } from "../files/ports.ts";
import type { NewSend } from "../ports.ts";
import type { RetentionOrder } from "../retention/ports.ts";
import type { ImportedMessage } from "../transfer/ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const at = 1_000_000;
const dayMs = 24 * 3600 * 1000;

/** Tests the ports of files, and what sends, recalls and deletions make of them, for every engine. */
export function describeFiles(engine: string, open: OpenDatabase): void {
  describe(`files on ${engine}`, () => {
    const context = useStore(open);
    const createOrganization = () => context.createOrganization(["u1", "u2"]);
    const storedBytesOf = async (org: string) =>
      (await context.store.organizations.budgets([org]))[0]?.storedBytes ?? 0;

    /** Stores bytes under an id of their own, as an upload does; their hash is the content itself. */
    async function begin(org: string, content: string, now = at) {
      const bytesId = createId();
      expect(await context.store.files.begin(org, bytesId, now)).toBe(true);
      return { bytesId, size: content.length, sha256: content, contentType: "text/plain" };
    }

    async function upload(org: string, content: string, now = at): Promise<{ id: string; bytesId: string }> {
      const bytes = await begin(org, content, now);
      const id = createId();
      const file = { ...bytes, org, id, name: `${content}.txt`, now, keepUntil: now + dayMs };
      expect(await context.store.files.create(file)).toBe(true);
      return { id, bytesId: bytes.bytesId };
    }

    async function send(org: string, files: NamedFile[], change: Partial<NewSend> = {}): Promise<string> {
      const id = createId();
      const payload = JSON.stringify({ message: { _id: id, from: "u1", body: "", cid: "c1", x: {}, attachments: [] } });
      const outcome = await context.store.sends.append(
        messageOf(org, { id, payload, files, createdAt: at, ...change }),
      );
      expect(outcome.outcome).toBe("stored");
      return id;
    }

    const named = (id: string, change: Partial<NamedFile> = {}): NamedFile => ({
      ...{ id, name: "a.txt", contentType: "text/plain", size: 1, isGiven: true },
      ...change,
    });

    async function recall(org: string, ...ids: string[]): Promise<void> {
      const place = { org, sender: "u1", cid: "c1", ids, eventId: createId(), at, keyId: "k" };
      expect((await context.store.changes.recall(place)).outcome).toBe("changed");
    }

    /** The ids of the organization's bytes that are to be removed. */
    const unwantedOf = async (org: string, arrivingBefore = 0) =>
      (await context.store.files.unwanted(arrivingBefore, 10_000)).filter((one) => one.org === org).map(({ id }) => id);

    const expire = async (now: number) => {
      while ((await context.store.files.expire(now, 3)) > 0);
    };

    /** Looks at all attachments, a few at a time. */
    async function release(): Promise<void> {
      let place: AttachmentPlace | undefined;
      do place = await context.store.files.release(place, { limit: 2, now: at });
      while (place !== undefined);
    }

    async function removeOld(change: Partial<RetentionOrder>): Promise<void> {
      const none = {
        readsBefore: undefined,
        idsBefore: undefined,
        revocationsBefore: undefined,
        auditBefore: undefined,
      };
      const order = {
        holder: "n1",
        leaseMs: 1,
        limit: 4,
        now: at,
        messagesBefore: undefined,
        deletedBefore: 0,
        ...none,
      };
      for (let removed: number | undefined = 1; removed !== 0; order.now += 10)
        removed = await context.store.retention.step({ ...order, ...change });
    }

    const isReadable = async (org: string, uid: string, id: string) =>
      (await context.store.files.readableBy(org, uid, [id, "another"])).has(id);

    /** Expects that the file and its bytes go once their time is over, and that the count of the organization is as it was. */
    async function expectGone(org: string, { id, bytesId }: { id: string; bytesId: string }): Promise<void> {
      const before = await storedBytesOf(org);
      const { size = 0 } = (await context.store.files.get(org, id)) ?? {};
      await expire(at + 1);
      expect(await context.store.files.get(org, id)).toBeUndefined();
      expect(await unwantedOf(org)).toEqual([bytesId]);
      expect(await storedBytesOf(org)).toBe(before - size);
    }

    test("are stored with their bytes, found by id, and not without an organization", async () => {
      const org = await createOrganization();
      const { files } = context.store;
      const { id, bytesId } = await upload(org, "text");
      const file: StoredFile = {
        ...{ org, id, name: "text.txt", contentType: "text/plain", size: 4, sha256: "text", bytesId },
        ...{ createdAt: at, keepUntil: at + dayMs },
      };
      expect(await files.get(org, id)).toEqual(file);
      expect(await files.find(id)).toEqual([file]);
      expect(await files.get(await createOrganization(), id)).toBeUndefined();
      expect(await files.begin("nowhere", createId(), at)).toBe(false);
      const bytes = { bytesId: createId(), size: 1, sha256: "x", contentType: "text/plain" };
      const nowhere = { ...bytes, org: "nowhere", id: createId(), name: "a", now: at, keepUntil: at };
      expect(await files.create(nowhere)).toBe(false);
      expect(await files.replace({ ...bytes, org, id: createId(), now: at })).toBeUndefined();
      expect(await files.remove(org, createId(), at)).toBe(false);
    });

    test("with the same content share bytes within an organization, which count once, and go with the last of them", async () => {
      const [org, other] = [await createOrganization(), await createOrganization()];
      const before = await storedBytesOf(org);
      const first = await upload(org, "same");
      const second = await upload(org, "same");
      const theirs = await upload(other, "same");
      expect((await context.store.files.get(org, second.id))?.bytesId).toBe(first.bytesId);
      expect((await context.store.files.get(other, theirs.id))?.bytesId).toBe(theirs.bytesId);
      expect(await unwantedOf(org)).toEqual([second.bytesId]);
      expect(await storedBytesOf(org)).toBe(before + 4);
      await context.store.files.remove(org, first.id, at);
      expect([await unwantedOf(org), await storedBytesOf(org)]).toEqual([[second.bytesId], before + 4]);
      await context.store.files.remove(org, second.id, at);
      expect([await unwantedOf(org), await storedBytesOf(org)]).toEqual([[first.bytesId, second.bytesId], before]);
      await context.store.files.forget([first.bytesId, second.bytesId]);
      expect([await unwantedOf(org), await unwantedOf(other)]).toEqual([[], []]);
    });

    test("get other bytes, and the earlier ones are removed unless they are the same", async () => {
      const org = await createOrganization();
      const before = await storedBytesOf(org);
      const { id, bytesId } = await upload(org, "one");
      const again = await begin(org, "one");
      expect(await context.store.files.replace({ ...again, org, id, now: at })).toMatchObject({ sha256: "one" });
      expect(await unwantedOf(org)).toEqual([again.bytesId]);
      const other = await begin(org, "other");
      await context.store.files.replace({ ...other, org, id, now: at });
      expect(await context.store.files.get(org, id)).toMatchObject({
        sha256: "other",
        size: 5,
        bytesId: other.bytesId,
      });
      expect(await unwantedOf(org)).toEqual([bytesId, again.bytesId].toSorted());
      expect(await storedBytesOf(org)).toBe(before + 5);
    });

    test("that no message has named are removed a day after the upload, and the others are not", async () => {
      const org = await createOrganization();
      const orphans = await Promise.all(["a", "b", "c", "d", "e"].map((content) => upload(org, content)));
      const kept = await upload(org, "kept");
      await send(org, [named(kept.id)]);
      await expire(at + dayMs);
      expect(await unwantedOf(org)).toEqual([]);
      await expire(at + dayMs + 1);
      expect(await unwantedOf(org)).toEqual(orphans.map(({ bytesId }) => bytesId).toSorted());
      expect(await context.store.files.get(org, kept.id)).toMatchObject({ keepUntil: undefined });
    });

    test("whose upload began a day ago and never ended, or was given up, leave no bytes", async () => {
      const org = await createOrganization();
      const { bytesId } = await begin(org, "arriving");
      const cut = await begin(org, "cut");
      await context.store.files.discard(cut.bytesId, org, at);
      expect(await unwantedOf(org, at)).toEqual([cut.bytesId]);
      expect(await unwantedOf(org, at + 1)).toEqual([bytesId, cut.bytesId]);
    });

    test("are named by sends only of their organization, and only while they are kept", async () => {
      const [org, other] = [await createOrganization(), await createOrganization()];
      const theirs = await upload(other, "theirs");
      const released = await upload(org, "released", at - 2 * dayMs);
      for (const id of [theirs.id, released.id, "nothing"]) {
        const outcome = context.store.sends.append(messageOf(org, { files: [named(id)], createdAt: at }));
        expect(await outcome).toEqual({ outcome: "refused", missing: "file", file: id });
      }
    });

    test("may be had by those who take part in a conversation where a message names them", async () => {
      const org = await createOrganization();
      const { id } = await upload(org, "text");
      expect(await isReadable(org, "u1", id)).toBe(false);
      const message = await send(org, [named(id), named(id)]);
      expect([await isReadable(org, "u1", id), await isReadable(org, "u3", id)]).toEqual([true, false]);
      expect(await isReadable(await createOrganization(), "u1", id)).toBe(false);
      await context.store.participants.remove(org, "c1", "u2", at);
      expect(await isReadable(org, "u2", id)).toBe(false);
      await recall(org, message);
      expect(await isReadable(org, "u1", id)).toBe(false);
    });

    test("are announced by a send, and get their bytes afterwards", async () => {
      const org = await createOrganization();
      const id = createId();
      await send(org, [named(id, { isGiven: false, size: 7 })]);
      const announced = { size: 7, bytesId: undefined, sha256: undefined, keepUntil: undefined };
      expect(await context.store.files.get(org, id)).toMatchObject(announced);
      await context.store.files.replace({ ...(await begin(org, "text")), org, id, now: at });
      expect(await context.store.files.get(org, id)).toMatchObject({ size: 4, sha256: "text", keepUntil: undefined });
      const unfilled = createId();
      const message = await send(org, [named(unfilled, { isGiven: false })]);
      await recall(org, message);
      await expire(at + 1);
      expect(await context.store.files.get(org, unfilled)).toBeUndefined();
      expect(await unwantedOf(org)).toEqual([]);
    });

    test("go when the last message that names them is taken back", async () => {
      const org = await createOrganization();
      const file = await upload(org, "text");
      const [first, second] = [await send(org, [named(file.id)]), await send(org, [named(file.id)])];
      await recall(org, first);
      await expire(at + dayMs + 1);
      expect(await isReadable(org, "u2", file.id)).toBe(true);
      await recall(org, second);
      expect(await context.store.files.get(org, file.id)).toMatchObject({ keepUntil: at });
      await expectGone(org, file);
    });

    test("that a message names while its last other one is released are kept", async () => {
      const org = await createOrganization();
      const file = await upload(org, "text");
      await recall(org, await send(org, [named(file.id)]));
      await send(org, [named(file.id)], { createdAt: at - 1 }); // by a node whose clock is behind
      await expire(at + 1);
      expect(await isReadable(org, "u1", file.id)).toBe(true);
      expect(await context.store.files.get(org, file.id)).toMatchObject({ keepUntil: undefined });
    });

    test("go with messages that expire", async () => {
      const org = await createOrganization();
      const [old, young] = [await upload(org, "old"), await upload(org, "young")];
      await send(org, [named(old.id)], { id: createId(at) });
      await send(org, [named(young.id)], { id: createId(at + dayMs) });
      await removeOld({ messagesBefore: at + 1 });
      expect(await isReadable(org, "u1", old.id)).toBe(false);
      await release();
      await expectGone(org, old);
      expect(await isReadable(org, "u1", young.id)).toBe(true);
    });

    test("go with what an erased user wrote", async () => {
      const org = await createOrganization();
      const [mine, ours] = [await upload(org, "mine"), await upload(org, "ours")];
      await send(org, [named(mine.id), named(ours.id)]);
      await send(org, [named(ours.id)], { sender: "u2" });
      const range = { org, uid: "u1", after: 0, upTo: Number.MAX_SAFE_INTEGER };
      const { events = [] } = (await context.store.erasures.written(range)) ?? {};
      await context.store.erasures.erase({ org, uid: "u1", at, keyId: "k" }, events);
      await expectGone(org, mine);
      expect(await isReadable(org, "u2", ours.id)).toBe(true);
    });

    test("go with a deleted conversation, also when it is created again", async () => {
      const org = await createOrganization();
      const file = await upload(org, "text");
      await send(org, [named(file.id)]);
      await context.store.conversations.remove(org, "c1", at);
      expect(await isReadable(org, "u1", file.id)).toBe(false);
      await context.store.conversations.put(org, "c1", { participants: ["u1", "u2"] }, at);
      expect(await isReadable(org, "u1", file.id)).toBe(false);
      await release();
      await expectGone(org, file);
    });

    test("go with a deleted organization, whose bytes are removed, and are not in one of its name", async () => {
      const [org, other] = [await createOrganization(), await createOrganization()];
      const files = await Promise.all(["a", "b", "c", "d", "e", "f"].map((content) => upload(org, content)));
      const theirs = await upload(other, "a");
      await send(org, [named(files[0]?.id ?? "")]);
      await context.store.organizations.remove(org, at);
      const [first] = files;
      expect(await context.store.files.get(org, first?.id ?? "")).toBeUndefined();
      expect(await context.store.files.find(first?.id ?? "")).toEqual([]);
      await removeOld({});
      expect(await unwantedOf(org)).toEqual(files.map(({ bytesId }) => bytesId).toSorted());
      await context.store.organizations.put(org, undefined, at);
      for (const { id } of files) expect(await context.store.files.get(org, id)).toBeUndefined();
      const events = await context.store.log.readAfter(org, 0, 100, 100_000);
      expect(await storedBytesOf(org)).toBe(events.reduce((sum, { payload }) => sum + payload.length, 0));
      expect([await unwantedOf(other), (await context.store.files.get(other, theirs.id))?.size]).toEqual([[], 1]);
    });

    test("are named by imported messages: those that are there, and others, which they announce, once", async () => {
      const org = await createOrganization();
      const there = await upload(org, "there");
      const before = await storedBytesOf(org);
      const file = { name: "old.pdf", contentType: "application/pdf", size: 9 };
      const message = (importId: string, ids: string[]): ImportedMessage => {
        const rest = `,"from":"u1","body":"","cid":"c1","x":{},"attachments":[]}}`;
        const place = { kind: "message", importId, id: createId(at), cid: "c1", sender: "u1" } as const;
        return { ...place, rest, files: ids.map((id) => ({ ...file, id })), createdAt: at };
      };
      const items = [message("m1", [there.id, "old/1", "old/1"]), message("m2", ["old/1", "old/2"])];
      const part = { org, items, maxParticipants: 10, hasRoom: true, keyId: "k", now: at };
      for (const written of [2, 0])
        expect(await context.store.imports.add(part)).toMatchObject({ faults: [], written });
      const announced = { name: "old.pdf", size: 9, contentType: "application/pdf", bytesId: undefined };
      for (const id of ["old/1", "old/2"])
        expect(await context.store.files.get(org, id)).toMatchObject({ ...announced, keepUntil: undefined });
      expect(await context.store.files.get(org, there.id)).toMatchObject({ name: "there.txt", keepUntil: undefined });
      for (const id of [there.id, "old/1", "old/2"]) expect(await isReadable(org, "u2", id)).toBe(true);
      await release();
      const bytes = await begin(org, "scanned");
      await context.store.files.replace({ ...bytes, org, id: "old/2", now: at });
      await recall(org, items[1]?.id ?? "");
      await expire(at + 1);
      expect(await context.store.files.get(org, "old/2")).toBeUndefined();
      expect(await unwantedOf(org)).toEqual([bytes.bytesId]);
      expect(await isReadable(org, "u2", "old/1")).toBe(true);
      expect(await storedBytesOf(org)).toBeGreaterThanOrEqual(before);
    });
  });
}
