import type { Deeds } from "./authors.ts";
import type { ChangeListener } from "./listener.ts";

/** What lists say in the end: the texts by the ids of messages. */
export type Shown = ReadonlyMap<string, string>;

type Account = {
  deeds: Deeds;
  listed: Shown;
  /** The ids in the inbox of the reader, newest first. */
  inbox: readonly string[];
  listeners: readonly ChangeListener[];
  losesTail: boolean;
};

/** Describes what is wrong with changes; empty if all is well. What the database lost needs not be so any more. */
export function* judgeChanges({ deeds, listed, inbox, listeners, losesTail }: Account): Iterable<string> {
  const { written, batched, scheduled } = deeds;
  const texts = [...listed.values()];
  const countOf = (text: string) => texts.filter((one) => one === text).length;
  for (const text of [...batched, ...scheduled.map((one) => one.text)])
    if (countOf(text) > 1) yield `${text} is there ${countOf(text)} times`;
  const inDoubt = new Set(written.flatMap(({ id, isInDoubt }) => (isInDoubt ? [id] : [])));
  for (const one of listeners) yield* judgeRuns(one, inDoubt);
  yield* judgeOrder(listeners);
  if (losesTail) return;
  for (const { id, texts: own, isInDoubt, isGone } of written) {
    const [expected, text = ""] = [isGone ? "" : own.at(-1), listed.get(id)];
    if (text !== expected && (isGone || !isInDoubt || !own.includes(text))) yield `${id} says ${text}, not ${expected}`;
  }
  for (const text of batched) if (countOf(text) === 0) yield `${text}, a line of a batch, is lost`;
  for (const { text, isCancelled } of scheduled) {
    if (isCancelled && countOf(text) > 0) yield `${text} is cancelled and sent`;
    if (!isCancelled && countOf(text) === 0) yield `${text} is neither cancelled nor sent`;
  }
  yield* judgeInbox(deeds, inbox);
}

/** The inbox has what is not gone, and of those with a key the newest, if that is not gone, in the order of the log. */
function* judgeInbox({ notices }: Deeds, inbox: readonly string[]): Iterable<string> {
  const newest = new Map(notices.map(({ id, key }) => [key ?? id, id]));
  const kept = notices.filter(({ id, key, isGone }) => !isGone && newest.get(key ?? id) === id).map(({ id }) => id);
  const expected = kept.reverse();
  const [missing] = expected.filter((id) => !inbox.includes(id));
  const [surplus] = inbox.filter((id) => !expected.includes(id));
  if (missing !== undefined) yield `${missing} is missing in the inbox`;
  if (surplus !== undefined) yield `${surplus} is in the inbox, and should not be`;
  if (missing === undefined && surplus === undefined && expected.join() !== inbox.join())
    yield `the inbox is in another order: ${inbox.join()}, not ${expected.join()}`;
}

/** Describes how what a client shows differs from what lists say. */
export function* compareShown({ uid, shown }: Pick<ChangeListener, "uid" | "shown">, listed: Shown): Iterable<string> {
  for (const [id, text] of listed) if (shown.get(id) !== text) yield `${uid} shows ${shown.get(id)} for ${text}`;
  for (const [id, text] of shown) if (!listed.has(id)) yield `${uid} still shows ${text}, which is gone (${id})`;
}

/** A connection hears each event once; the edit of a message in doubt may have been made again after another one. */
function* judgeRuns({ uid, runs }: ChangeListener, inDoubt: ReadonlySet<string>): Iterable<string> {
  for (const run of runs) {
    const heard = new Set<string>();
    for (const key of run) {
      const [kind, id = ""] = key.split(" ");
      if (heard.has(key) && !(kind === "edit" && inDoubt.has(id))) yield `a connection of ${uid} hears twice: ${key}`;
      heard.add(key);
    }
  }
}

/** Any two connections hear what both of them hear in the same order. */
function* judgeOrder(listeners: readonly ChangeListener[]): Iterable<string> {
  const runs = listeners.flatMap(({ uid, runs: own }) => own.map((run) => ({ uid, run })));
  for (const [index, { uid, run }] of runs.entries()) {
    const places = new Map(run.map((key, place) => [key, place]));
    for (const other of runs.slice(index + 1)) {
      let last: { key: string; place: number } | undefined;
      for (const key of other.run) {
        const place = places.get(key);
        if (place === undefined) continue;
        if (last !== undefined && place < last.place)
          yield `${other.uid} hears ${last.key} before ${key}, and ${uid} after it`;
        last = { key, place };
      }
    }
  }
}
