import type { Random } from "../../harness/random.ts";
import { type Climate, pickOrganization } from "../climate.ts";
import { tooOldCode } from "./feed.ts";
import type { Node } from "./node.ts";
import { pause } from "./time.ts";

/** What a feed has said: a cursor, with an event unless it does not show that; when, and when the feed was opened. */
export type Line = { cursor: string; name: string | undefined; text: string; at: number; openedAt: number };

/** What a consumer has worked off of a log without a break. The first line is where it began. */
export type Reading = { org: string; lines: Line[]; isSlow: boolean; isOpen: boolean };

/** A cursor that was refused as too old. */
export type Refusal = { org: string; cursor: string; at: number };

/** What all consumers share. */
export type Consumers = {
  random: Random;
  climate: Climate;
  orgs: string[];
  now(): number;
  isActive(): boolean;
  /** Whether the world has ended, so that nobody connects any more. */
  isOver(): boolean;
  pickNode(): Node | undefined;
  readings: Reading[];
  refusals: Refusal[];
  note(text: () => string): void;
};

const healthyBytesPerMs = 1024 * 1024;
const slowBytesPerMs = 20;
const againMs = 100;

/** Follows an organization, stops at any time, and goes on after its cursor, at whatever node; in the end it stays. */
export async function runConsumer(consumers: Consumers): Promise<void> {
  const { random, climate, orgs, now, isActive, isOver, pickNode, readings, refusals } = consumers;
  const org = pickOrganization(random, climate, orgs);
  const isSlow = random.next() < climate.slowConsumers;
  const begin = (): Reading => ({ org, lines: [], isSlow, isOpen: false });
  let reading = begin();
  await pause(random.integer(0, climate.activeMs / 2));
  while (!isOver()) {
    const node = pickNode();
    if (node !== undefined) {
      const { lines } = reading;
      const cursor = lines.at(-1)?.cursor;
      const before = lines.length;
      const { ended, cut } = follow(consumers, node, reading, cursor);
      const stayMs = random.integer(1, climate.workingMs);
      if (now() + stayMs < climate.activeMs) {
        await Promise.race([ended, pause(stayMs)]);
        cut();
      }
      const code = await ended;
      // What arrived and was not worked off comes again.
      if (random.next() >= climate.worksOff)
        lines.length = random.integer(Math.min(before, lines.length), lines.length);
      if (lines.length > 0 && !readings.includes(reading)) readings.push(reading);
      if (code === tooOldCode && cursor !== undefined) {
        refusals.push({ org, cursor, at: now() });
        reading = begin();
      }
    }
    await pause(isActive() ? random.integer(0, climate.restingMs) : againMs);
  }
}

function follow(
  { now, isActive, note, readings }: Consumers,
  node: Node,
  reading: Reading,
  cursor: string | undefined,
) {
  const { org, lines, isSlow } = reading;
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  const openedAt = now();
  let isCut = false;
  reading.isOpen = true;
  note(() => `a consumer of ${org} begins at ${node.name} after ${cursor}`);
  const wire = {
    get bytesPerMs() {
      return isSlow && isActive() ? slowBytesPerMs : healthyBytesPerMs;
    },
    onCursor(cursor: string, name: string | undefined) {
      if (isCut) return;
      lines.push({ cursor, name, text: "", at: now(), openedAt });
      if (!readings.includes(reading)) readings.push(reading);
    },
    onText(text: string) {
      const last = lines.at(-1);
      if (last !== undefined && !isCut) last.text = text;
      note(() => `a consumer of ${org} is shown ${last?.name} ${last?.cursor}`);
    },
    onSubscribed: () => undefined,
    onEnd(code: number) {
      reading.isOpen = false;
      note(() => `the feed of a consumer of ${org} ends with ${code}`);
      resolve(code);
    },
  };
  const breakOff = node.follow(wire, org, cursor);
  return {
    ended,
    cut() {
      isCut = true;
      breakOff();
    },
  };
}
