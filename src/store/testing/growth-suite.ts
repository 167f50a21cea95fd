import { describe, expect, test } from "bun:test";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { appendPayload, lengthOf, midOfPiece } from "../../contract/messages/append.ts";
import { createId } from "../../lib/text/ids.ts";
import type { NewSend, SendOutcome } from "../ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;
const everything = { direction: "forward", limit: 100, maxBytes: mebibyte } as const;
const silenceMs = 10 * 60_000;
const alphabet = ["a", "é", "👋", "\n", '"', "word ", "x".repeat(700)];

type Model = { id: string; offset: number; sender: string; text: string; isOpen: boolean; isGone: boolean };

/** Tests messages that grow, for every engine. */
export function describeGrowth(engine: string, open: OpenDatabase): void {
  describe(`messages that grow on ${engine}`, () => {
    const context = useStore(open);

    async function begin(org: string, body = "", sender = "u1"): Promise<Model> {
      const id = createId();
      const message = { _id: id, from: sender, body, cid: "c1", x: {}, attachments: [], open: true };
      const payload = JSON.stringify({ message });
      const outcome = await context.store.sends.append(messageOf(org, { id, mid: id, sender, payload, isOpen: true }));
      if (outcome.outcome !== "stored") throw new Error(`the message was ${outcome.outcome}`);
      return { id, offset: outcome.offset, sender, text: body, isOpen: true, isGone: false };
    }

    function pieceOf(
      org: string,
      { id: of, sender, offset: place }: Model,
      offset: number,
      text: string,
      isDone = false,
    ) {
      const told = { id: of, cid: "c1", from: sender, offset, text, done: isDone, t: 1 };
      const send: NewSend = {
        ...messageOf(org, { sender, mid: midOfPiece(of, offset), fingerprint: JSON.stringify([text, isDone]) }),
        kind: "append",
        payload: appendPayload(told),
        piece: { of, offset, text, isDone },
        completes: isDone ? place : undefined,
      };
      return send;
    }

    const append = (org: string, message: Model, text: string, isDone = false): Promise<SendOutcome> =>
      context.store.sends.append(pieceOf(org, message, lengthOf(message.text), text, isDone));

    async function grow(org: string, message: Model, text: string, isDone = false): Promise<void> {
      expect(await append(org, message, text, isDone)).toMatchObject({ outcome: "stored" });
      message.text += text;
      message.isOpen = !isDone;
    }

    const listed = async (org: string) =>
      (await context.store.history.messages(org, "c1", everything)).map(({ payload }) => {
        const { _id: id, body: text, open = false } = JSON.parse(payload).message;
        return { id, text, isOpen: open };
      });

    test("are in the log as they were told, and their pieces are no part of the conversation's pages", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      context.announced.length = 0;
      const message = await begin(org, "é");
      await grow(org, message, "a");
      await grow(org, message, "", true);
      const log = await context.store.log.readAfter(org, 1, 99, mebibyte);
      const parsed = (events: LogEvent[]) =>
        events.map(({ offset, kind, cid, payload, completes }) => ({
          ...{ offset, kind, cid, completes },
          ...(kind === "append" && { told: { ...JSON.parse(payload).message_append, t: 0 } }),
        }));
      expect(parsed(log)).toEqual(parsed(context.announced));
      expect(log.map(({ completes }) => completes)).toEqual([undefined, undefined, message.offset]);
      const shown = await context.store.log.readShown(org, 1, 99, mebibyte);
      expect(parsed(shown)).toEqual(parsed(log));
      const page = await context.store.log.readFrom(org, 1, 99);
      expect(parsed(page.events)).toEqual(parsed(log));
    });

    test.each([false, true])(
      "are read from the log as they were sent, so that nobody hears a piece twice (complete: %p)",
      async (isComplete) => {
        const org = await context.createOrganization(["u1", "u2"]);
        const message = await begin(org, "é".repeat(10));
        await grow(org, message, "x".repeat(3_000)); // is moved into the row of the message
        await grow(org, message, "👋", isComplete);
        const { log } = context.store;
        const { events } = await log.readFrom(org, 1, 99);
        for (const read of [
          events,
          await log.readAfter(org, 1, 99, mebibyte),
          await log.readShown(org, 1, 99, mebibyte),
        ]) {
          expect(read.map(({ kind }) => kind)).toEqual(["message", "append", "append"]);
          const [sent] = read;
          expect(sent).toMatchObject({ id: message.id, isOpen: true });
          expect(JSON.parse(sent?.payload ?? "").message).toMatchObject({ body: "é".repeat(10), open: true });
        }
      },
    );

    test("take each piece once, also several in one commit, and none that does not fit", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const message = await begin(org);
      const sends = ["a", "b", "c"].map((text, offset) => pieceOf(org, message, offset, text));
      const outcomes = await Promise.all([...sends, ...sends].map((send) => context.store.sends.append(send)));
      expect(outcomes.map((one): string => one.outcome)).toEqual([
        ...["stored", "stored", "stored"],
        ...["replayed", "replayed", "replayed"],
      ]);
      const unfit = { outcome: "unfit", length: 3 };
      for (const [offset, text] of [
        [0, "x"],
        [2, "x"],
        [4, "x"],
      ] as const)
        expect(await context.store.sends.append(pieceOf(org, message, offset, text))).toMatchObject(unfit);
      expect(await listed(org)).toEqual([{ id: message.id, text: "abc", isOpen: true }]);
      const nowhere = { ...message, id: createId() };
      expect(await append(org, nowhere, "x")).toMatchObject({ outcome: "refused", missing: "message" });
      const other = await context.createOrganization(["u1"]);
      expect(await context.store.sends.append(pieceOf(other, message, 3, "x"))).toMatchObject({ outcome: "refused" });
    });

    test("are complete after ten minutes without a piece, though the sender has left and the clock of its node is wrong", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const { openMessages, participants } = context.store;
      const { now: earliest } = await openMessages.next();
      const [silent, whole] = [await begin(org, "a"), await begin(org, "b")];
      await grow(org, silent, "c");
      await grow(org, whole, "", true);
      await participants.remove(org, "c1", "u1", 2);
      const { now: latest, nextAt } = await openMessages.next();
      expect(nextAt).toBeLessThanOrEqual(latest + silenceMs);
      expect(await openMessages.dueOrganizations(earliest - 1 + silenceMs, 1_000)).not.toContain(org);
      expect(await openMessages.dueOrganizations(latest + silenceMs, 1_000)).toContain(org);
      context.announced.length = 0;
      expect(await openMessages.completeSome(org, earliest - 1 + silenceMs)).toBe(0);
      expect(await openMessages.completeSome(org, latest + silenceMs)).toBe(1);
      expect(await openMessages.completeSome(org, latest + silenceMs)).toBe(0);
      const told = context.announced.map(({ payload, completes }) => ({
        ...JSON.parse(payload).message_append,
        completes,
      }));
      expect(told).toMatchObject([{ id: silent.id, offset: 2, text: "", done: true, completes: silent.offset }]);
      expect(await listed(org)).toEqual([
        { id: silent.id, text: "ac", isOpen: false },
        { id: whole.id, text: "b", isOpen: false },
      ]);
      expect(await openMessages.find(org, silent.id)).toMatchObject({ length: 2, sender: "u1" });
    });

    test("read as a plain model says, whatever is done to them, for whoever lists, and comes back at any place", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const { store, announced } = context;
      announced.length = 0;
      const models: Model[] = [];
      const pick = <Item>(items: readonly Item[]) => items[Math.floor(Math.random() * items.length)];
      const texts = () => Array.from({ length: 1 + Math.floor(Math.random() * 4) }, () => pick(alphabet)).join("");
      const change = { org, at: 9_000, keyId: "k" };
      for (let step = 0; step < 250; step++) {
        const there = models.filter(({ isGone }) => !isGone);
        const open = there.filter(({ isOpen }) => isOpen);
        const one = pick(there);
        const roll = Math.random();
        if (roll < 0.08 || open.length === 0)
          models.push(await begin(org, roll < 0.04 ? texts() : "", pick(["u1", "u2"])));
        else if (roll < 0.82) {
          const growing = pick(open);
          if (growing !== undefined) await grow(org, growing, texts(), Math.random() < 0.04);
        } else if (roll < 0.9) await Promise.all(open.slice(0, 5).map((message) => grow(org, message, texts())));
        else if (one !== undefined && roll < 0.93) {
          const edit = {
            ...change,
            sender: one.sender,
            eventId: createId(),
            id: one.id,
            body: `edited ${step}`,
            x: undefined,
          };
          const { outcome } = await store.changes.edit(edit);
          expect(outcome).toBe(one.isOpen ? "refused" : "changed");
          if (!one.isOpen) one.text = edit.body;
        } else if (one !== undefined && roll < 0.95) {
          const recall = { ...change, sender: "u2", eventId: createId(), cid: "c1", ids: [one.id] };
          expect(await store.changes.recall(recall)).toMatchObject({ outcome: "changed" });
          one.isGone = true;
        } else await store.sends.append(messageOf(org, { payload: whole(createId()) }));
        if (step % 10 !== 9) continue;
        const shown = models.filter(({ isGone }) => !isGone).map(({ id, text, isOpen }) => ({ id, text, isOpen }));
        const ids = new Set(models.map(({ id }) => id));
        expect((await listed(org)).filter(({ id }) => ids.has(id))).toEqual(shown);
        await comeBack(org, announced);
      }
      const [budget] = await store.organizations.budgets([org]);
      expect(budget?.storedBytes).toBe(await context.bytesOf(org));
    });

    /** Whoever knows the log up to a place and hears the rest knows what is listed, and hears no character twice. */
    async function comeBack(org: string, announced: readonly LogEvent[]): Promise<void> {
      const { missed } = context.store;
      const events = announced.filter((event) => event.org === org);
      const places = events.filter(({ kind }) => kind === "message");
      const since = places[Math.floor(Math.random() * places.length)]?.offset ?? 0;
      const heads = events.filter(({ offset }) => offset >= since);
      const head = heads[Math.floor(Math.random() * heads.length)]?.offset ?? 0;
      const known = new Map<string, string>();
      for (const event of events) if (event.offset <= since) apply(known, event);
      for (const event of await missed.readGrown(await missed.findGrown(org, "u2", since), { since, head }))
        apply(known, event);
      for (const event of await missed.readMissed(org, "u2", since, head, 9_999, 16 * mebibyte, head))
        apply(known, event);
      // What an edit or a recall after the head takes out of the store is missing before it, and made up for by it.
      const later = events.filter(({ offset }) => offset > head);
      for (const event of later) apply(known, event, new Set(later.flatMap(replacedBy)));
      const all = new Map<string, string>();
      for (const event of events) apply(all, event);
      expect(known).toEqual(all);
    }
  });
}

const whole = (id: string) =>
  JSON.stringify({ message: { _id: id, from: "u1", body: "whole", cid: "c1", x: {}, attachments: [] } });

/** The messages that an event replaces, or takes back. */
function replacedBy({ kind, payload }: LogEvent): string[] {
  if (kind === "edit") return [JSON.parse(payload).message_edit.id];
  return kind === "recall" ? JSON.parse(payload).message_delete.ids : [];
}

/** What a client knows after an event. Only of the messages in `mayLack` a piece may not fit. */
function apply(
  known: Map<string, string>,
  { kind, payload }: Pick<LogEvent, "kind" | "payload">,
  mayLack: ReadonlySet<string> = new Set(),
): void {
  if (payload === "") return;
  const event = JSON.parse(payload);
  if (kind === "message") known.set(event.message._id, event.message.body);
  if (kind === "edit" && known.has(event.message_edit.id)) known.set(event.message_edit.id, event.message_edit.body);
  if (kind === "recall") for (const id of event.message_delete.ids) known.delete(id);
  if (kind !== "append") return;
  const { id, offset, text } = event.message_append;
  const before = known.get(id);
  if (before === undefined || (mayLack.has(id) && offset !== lengthOf(before))) return;
  expect(offset).toBe(lengthOf(before));
  known.set(id, before + text);
}
