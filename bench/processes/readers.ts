// Clients of the SDK that show a conversation, in a process of its own. Each comes and goes where its plan says. All orders but
// `pass` are answered, after a minute at the latest.
import { createReader, type Reader, type Tally } from "../growth/reader.ts";

/** When a reader comes or goes: after so many pieces. It is there from the beginning if it goes first. */
export type ReaderPlan = { uid: string; kind: string; changes: readonly { at: number; does: "come" | "go" }[] };

/** What the parent orders. */
export type ReadersOrder =
  | { want: "open"; urls: string[]; org: string; cid: string; plans: ReaderPlan[] }
  /** The clients that are there have heard a message. */
  | { want: "hear" }
  /** So many pieces have been written. */
  | { want: "pass"; pieces: number }
  /** Each of those that are there shows so much of the text, in UTF-16 code units. */
  | { want: "reach"; length: number }
  /** All show the text, complete. */
  | { want: "end"; text: string };

/** What became of a reader. `state` says how it is in the end. `completeMs` is when it showed the whole text, since the order `end`; `NaN` if it never did. */
export type ReaderReport = {
  uid: string;
  kind: string;
  tally: Tally;
  isSame: boolean;
  completeMs: number;
  state: string;
};

/** `reachedMs` says of each reader how long after the order it showed what was asked for. */
export type ReadersReport =
  | { did: "open" | "hear" }
  | { did: "reach"; reachedMs: number[] }
  | { did: "end"; readers: ReaderReport[] };

type Planned = ReaderPlan & Reader & { next: number };

const lookEveryMs = 10;
const mostMs = 60_000; // for any order, after which it is answered as things are
let readers: Planned[] = [];

const isThere = ({ client }: Planned) => client.state !== "stopped";
const lengthOf = (reader: Planned) => reader.shown()?.body.length ?? 0;

/** Looks again and again until `isSo` of each reader that is there; returns for each when that was first seen. */
async function until(isSo: (reader: Planned) => boolean, withinMs: number): Promise<Map<Planned, number>> {
  const startedAt = performance.now();
  const seen = new Map<Planned, number>();
  for (let waiting = readers.filter(isThere); waiting.length > 0; ) {
    const now = performance.now() - startedAt;
    for (const reader of waiting) if (isSo(reader)) seen.set(reader, now);
    waiting = waiting.filter((reader) => !seen.has(reader) && isThere(reader));
    if (now > withinMs) break;
    await Bun.sleep(lookEveryMs);
  }
  return seen;
}

function pass(pieces: number): void {
  for (const reader of readers)
    for (let change = reader.changes[reader.next]; change && change.at <= pieces; ) {
      if (change.does === "come") reader.client.start();
      else reader.client.stop();
      change = reader.changes[++reader.next];
    }
}

async function obey(order: ReadersOrder): Promise<ReadersReport | undefined> {
  if (order.want === "pass") {
    pass(order.pieces);
    return undefined;
  }
  if (order.want === "open") {
    const { urls, org, cid } = order;
    readers = order.plans.map((plan, index) => {
      const turned = urls.map((_, at) => urls[(index + at) % urls.length] ?? "");
      return { ...plan, ...createReader({ urls: turned, org, uid: plan.uid, cid }), next: 0 };
    });
    const first = readers.filter(({ changes }) => changes[0]?.does !== "come");
    for (const { client } of first) client.start();
    await until((reader) => reader.isReady(), mostMs);
    return { did: "open" };
  }
  if (order.want === "hear") {
    await until(({ client }) => client.since !== undefined, mostMs);
    return { did: "hear" };
  }
  if (order.want === "reach") {
    const seen = await until((reader) => lengthOf(reader) >= order.length, mostMs);
    return { did: "reach", reachedMs: [...seen.values()] };
  }
  const isComplete = (reader: Planned) => {
    const message = reader.shown();
    return message?.isOpen === undefined && message?.body === order.text;
  };
  const seen = await until(isComplete, mostMs);
  return {
    did: "end",
    readers: readers.map((reader) => ({
      uid: reader.uid,
      kind: reader.kind,
      tally: reader.tally,
      isSame: isComplete(reader),
      state: reader.describe(),
      completeMs: seen.get(reader) ?? Number.NaN,
    })),
  };
}

process.on("message", (order: ReadersOrder) => {
  obey(order).then(
    (report) => report !== undefined && process.send?.(report),
    (error: unknown) => {
      throw error;
    },
  );
});
