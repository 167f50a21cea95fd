import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import { lengthOf } from "../../../src/contract/messages/append.ts";
import { createLogReader } from "../../../src/store/log/log-reader.ts";
import type { Driver } from "../../../src/store/sql/driver.ts";

/** What a message said from a commit on, at a time in milliseconds. */
export type Said = { at: number; text: string; isOpen: boolean; isGone: boolean; isEdited: boolean };

/** A message as the log tells it. */
export type Told = Record<"org" | "id" | "cid" | "sender", string> & {
  offset: number;
  expiresAt: number | undefined;
  said: Said[];
};

/** The log as it was committed, and what messages said at each time. */
export type Truth = ReturnType<typeof createTruth>;

const mebibytes = 64 * 1024 * 1024;

/** Creates the record of what is committed. Notes at once what a log must never hold, as broken promises. */
export function createTruth({ shared, now, broken }: { shared: Driver; now(): number; broken: string[] }) {
  const reader = createLogReader({ reader: shared });
  const heads = new Map<string, number>();
  const messages = new Map<string, Told>();
  const offsets = new Map<string, number>();

  function change(id: string, what: string, change: Partial<Said>): void {
    const said = messages.get(id)?.said;
    const last = said?.at(-1);
    if (said === undefined || last === undefined) return void broken.push(`${what} is of no message`);
    if (last.isGone && change.isGone !== true) broken.push(`${what} comes after the end of ${id}`);
    said.push({ ...last, ...change, at: now() });
  }

  function grow({ id, offset, text, done }: { id: string; offset: number; text: string; done: boolean }): void {
    const what = `the piece at ${offset} of ${id}`;
    const last = messages.get(id)?.said.at(-1);
    if (last?.isOpen === false) broken.push(`${what} comes after it was complete`);
    if (last !== undefined && lengthOf(last.text) !== offset)
      broken.push(`${what} is stored when it has ${lengthOf(last.text)} characters`);
    change(id, what, { text: `${last?.text}${text}`, isOpen: !done });
  }

  function follow({ org, offset, kind, cid = "", payload, expiresAt }: LogEvent): void {
    if (payload === "") return void broken.push(`event ${offset} of ${org} is committed without a text`);
    const event = JSON.parse(payload);
    offsets.set(payload, offset);
    if (kind === "message") {
      const { _id: id, from: sender, body: text, open: isOpen = false } = event.message;
      const said = [{ at: now(), text, isOpen, isGone: false, isEdited: false }];
      messages.set(id, { org, id, cid, offset, sender, expiresAt, said });
    } else if (kind === "append") grow(event.message_append);
    else if (kind === "edit") {
      const { id, body } = event.message_edit;
      if (messages.get(id)?.said.at(-1)?.isOpen) broken.push(`${id} is edited while it is open`);
      change(id, `the edit of ${id}`, { text: body, isEdited: true });
    } else if (kind === "recall")
      for (const id of event.message_delete.ids) change(id, `the recall of ${id}`, { isGone: true, isOpen: false });
  }

  return {
    messages,
    /** The offset of the event that was committed with exactly this text. */
    offsetOf: (payload: string) => offsets.get(payload),
    /** Notes what an organization's log holds more than before. */
    async note(org: string): Promise<void> {
      const events = await reader.readAfter(org, heads.get(org) ?? 0, 1_000, mebibytes);
      for (const event of events) {
        heads.set(org, event.offset);
        if (event.kind !== "membership") follow(event);
      }
    },
    /** What a message said at some time between two. */
    saidBetween(id: string, from: number, to: number): Said[] {
      const said = messages.get(id)?.said ?? [];
      const first = said.findLastIndex(({ at }) => at < from);
      return said.filter(({ at }, index) => index >= first && at <= to);
    },
    last: (id: string) => messages.get(id)?.said.at(-1),
  };
}
