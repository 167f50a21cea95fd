import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { ChangeOutcome, NewEdit, NewRecall } from "../messages/ports.ts";
import type { NewSend } from "../ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

type Missing = Extract<ChangeOutcome, { outcome: "refused" }>["missing"];

const mebibyte = 1024 * 1024;
const everything = { direction: "forward", limit: 100, maxBytes: mebibyte } as const;

/** Tests the port `MessageChanges`, and what reads make of changed messages, for every engine. */
export function describeChanges(engine: string, open: OpenDatabase): void {
  describe(`changes of messages on ${engine}`, () => {
    const context = useStore(open);
    const createOrganization = () => context.createOrganization(["u1", "u2"]);

    async function send(org: string, body: string): Promise<NewSend> {
      const id = createId();
      const message = { _id: id, from: "u1", body, cid: "c1", x: { n: 1 }, attachments: [] };
      const sent = messageOf(org, { id, payload: JSON.stringify({ message }) });
      expect((await context.store.sends.append(sent)).outcome).toBe("stored");
      return sent;
    }

    const editOf = (org: string, id: string, body: string, change: Partial<NewEdit> = {}): NewEdit => ({
      org,
      sender: "u1",
      eventId: createId(),
      at: 5_000,
      keyId: "k",
      id,
      body,
      x: undefined,
      ...change,
    });
    const recallOf = (org: string, ids: string[], change: Partial<NewRecall> = {}): NewRecall => ({
      org,
      sender: "u2",
      eventId: createId(),
      at: 9_000,
      keyId: "k",
      cid: "c1",
      ids,
      ...change,
    });
    const edit = (...edit: Parameters<typeof editOf>) => context.store.changes.edit(editOf(...edit));
    const recall = (...recall: Parameters<typeof recallOf>) => context.store.changes.recall(recallOf(...recall));
    const log = (org: string) => context.store.log.readAfter(org, 0, 1_000, mebibyte);
    const kinds = async (org: string) => (await log(org)).map(({ kind }) => kind);
    const history = (org: string) => context.store.history.messages(org, "c1", everything);

    /** Expects that the organization's count is the sum of what its events hold. */
    async function expectCounted(org: string): Promise<void> {
      const bytes = (await log(org)).reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
      const past = (await history(org)).filter(({ offset }) => offset < 0);
      const pastBytes = past.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
      const [budget] = await context.store.organizations.budgets([org]);
      expect(budget?.storedBytes).toBe(bytes + pastBytes);
    }

    test("an edit replaces the text, tells it after the commit, and blanks the edit before it", async () => {
      const { announced } = context;
      const org = await createOrganization();
      const { id } = await send(org, "first");
      announced.length = 0;
      expect(await edit(org, id, "zweite ä")).toEqual({ outcome: "changed", cid: "c1" });
      expect(await edit(org, id, "third", { x: '{"m":2}', at: 6_000 })).toEqual({ outcome: "changed", cid: "c1" });
      expect(announced.map(({ kind, offset, cid, payload }) => [kind, offset, cid, JSON.parse(payload)])).toEqual([
        ["edit", 3, "c1", { message_edit: { id, cid: "c1", from: "u1", body: "zweite ä", x: { n: 1 }, t: 5 } }],
        ["edit", 4, "c1", { message_edit: { id, cid: "c1", from: "u1", body: "third", x: { m: 2 }, t: 6 } }],
      ]);
      expect(await kinds(org)).toEqual(["membership", "message", "blank", "edit"]);
      const [message] = await history(org);
      expect(message).toMatchObject({ offset: 2, editedAt: 6_000 });
      expect(JSON.parse(message?.payload ?? "")).toMatchObject({ message: { _id: id, body: "third", x: { m: 2 } } });
      expect(await context.store.sent.message(org, id)).toMatchObject({ editedAt: 6_000, recalledAt: undefined });
      await expectCounted(org);
    });

    test("an edit to what the message says stores nothing", async () => {
      const { announced } = context;
      const org = await createOrganization();
      const { id } = await send(org, "same");
      announced.length = 0;
      expect(await edit(org, id, "same")).toEqual({ outcome: "unchanged", cid: "c1" });
      expect(await edit(org, id, "same", { x: '{"n":1}' })).toEqual({ outcome: "unchanged", cid: "c1" });
      expect(announced).toEqual([]);
      expect(await history(org)).toMatchObject([{ editedAt: undefined }]);
      await expectCounted(org);
    });

    test("a recall takes out the texts of messages and their last edits, and keeps their places and ids", async () => {
      const { store, announced } = context;
      const org = await createOrganization();
      const [first, second, third] = [await send(org, "a"), await send(org, "b"), await send(org, "c")];
      await edit(org, second.id, "edited");
      announced.length = 0;
      expect(await recall(org, [third.id, second.id])).toEqual({ outcome: "changed", cid: "c1" });
      expect(announced.map(({ kind, payload }) => [kind, JSON.parse(payload)])).toEqual([
        ["recall", { message_delete: { ids: [third.id, second.id], cid: "c1", from: "u2", type: "all", t: 9 } }],
      ]);
      expect(await kinds(org)).toEqual(["membership", "message", "blank", "blank", "blank", "recall"]);
      expect((await log(org)).map(({ id }) => id).slice(1, 4)).toEqual([first.id, second.id, third.id]);
      expect((await history(org)).map(({ offset }) => offset)).toEqual([2]);
      expect(await store.history.offsetOf(org, "c1", second.id)).toBe(3);
      expect(await store.missed.findMessage(org, second.id)).toEqual({ offset: 3, createdAt: 1_000 });
      expect(await store.missed.countMissed(org, "u2", 0, 9, 100)).toBe(2);
      const missed = await store.missed.readMissed(org, "u2", 0, 9, 100, mebibyte);
      expect(missed.map(({ offset, kind }) => [offset, kind])).toEqual([
        [2, "message"],
        [6, "recall"],
      ]);
      expect((await store.sends.append({ ...second, id: createId() })).outcome).toBe("replayed");
      expect(await store.sent.message(org, second.id)).toMatchObject({ payload: "", recalledAt: 9_000, sender: "u1" });
      await expectCounted(org);
    });

    test("a change that is refused changes nothing", async () => {
      const { store, announced } = context;
      const org = await createOrganization();
      const [first, second] = [await send(org, "a"), await send(org, "b")];
      await store.conversations.put(org, "c2", { participants: ["u1"] }, 1);
      await recall(org, [second.id]);
      announced.length = 0;
      const before = await log(org);
      const refused = (missing: Missing) => ({ outcome: "refused" as const, missing });
      expect(await edit(org, second.id, "x")).toEqual(refused("message"));
      expect(await edit(org, createId(), "x")).toEqual(refused("message"));
      expect(await edit(org, first.id, "x", { sender: "u3" })).toEqual({
        ...refused("participant"),
        conversation: "c1",
      });
      expect(await edit(org, first.id, "x", { sender: "u2" })).toEqual(refused("owner"));
      expect(await edit(org, first.id, "")).toEqual(refused("content"));
      expect(await edit("nowhere", first.id, "x")).toEqual(refused("organization"));
      expect(await recall(org, [first.id, second.id])).toEqual({ ...refused("message"), message: second.id });
      expect(await recall(org, [first.id], { cid: "c2", sender: "u1" })).toEqual({
        ...refused("message"),
        message: first.id,
      });
      expect(await recall(org, [first.id], { cid: "c3" })).toEqual(refused("conversation"));
      expect(await recall(org, [first.id], { sender: "u3" })).toEqual(refused("participant"));
      expect(await recall("nowhere", [first.id])).toEqual(refused("organization"));
      expect(announced).toEqual([]);
      expect(await log(org)).toEqual(before);
      await expectCounted(org);
    });

    test("a check has the outcome of the change, counts the participants, and stores nothing", async () => {
      const { store } = context;
      const org = await createOrganization();
      const { id } = await send(org, "a");
      const before = await log(org);
      const changed = { outcome: "changed" as const, cid: "c1" };
      expect(await store.changes.checkEdit(editOf(org, id, "b"))).toEqual({ outcome: changed, participants: 2 });
      expect(await store.changes.checkEdit(editOf(org, id, "a"))).toMatchObject({ outcome: { outcome: "unchanged" } });
      expect(await store.changes.checkEdit(editOf(org, id, "b", { sender: "u2" }))).toMatchObject({
        outcome: { missing: "owner" },
      });
      expect(await store.changes.checkRecall(recallOf(org, [id]))).toEqual({ outcome: changed, participants: 2 });
      expect(await store.changes.checkRecall(recallOf("nowhere", [id]))).toMatchObject({
        outcome: { missing: "organization" },
      });
      expect(await log(org)).toEqual(before);
    });

    test("edits and recalls at once happen one after another, and no text outlives its recall", async () => {
      const org = await createOrganization();
      const sent = await Promise.all(["a", "b", "c", "d"].map((body) => send(org, body)));
      const ids = sent.map(({ id }) => id);
      const bodies = Array.from({ length: 10 }, (_, index) => `edited ${index}`);
      const edits = bodies.flatMap((body) => ids.map((id) => edit(org, id, body)));
      const recalls = [ids.slice(0, 2), ids.slice(1, 3), ids.slice(0, 1)].map((some) => recall(org, some));
      const outcomes = await Promise.all([...edits, ...recalls]);
      const recalled = outcomes.slice(edits.length).map(({ outcome }) => outcome);
      expect(recalled).toContain("changed");
      const events = await log(org);
      const gone = new Set<string>();
      for (const { kind, payload } of events) {
        if (kind === "recall") for (const id of JSON.parse(payload).message_delete.ids) gone.add(id);
        if (kind === "edit") expect(gone).not.toContain(JSON.parse(payload).message_edit.id);
      }
      const left = events.filter(({ kind }) => kind === "message").map(({ id }) => id);
      expect(left.toSorted()).toEqual(ids.filter((id) => !gone.has(id)).toSorted());
      for (const { kind, payload } of events)
        if (kind === "edit") expect(left).toContain(JSON.parse(payload).message_edit.id);
      const changed = outcomes.filter(({ outcome }) => outcome === "changed").length;
      expect(events.map(({ offset }) => offset)).toEqual(Array.from({ length: 5 + changed }, (_, index) => index + 1));
      await expectCounted(org);
    });
  });
}
