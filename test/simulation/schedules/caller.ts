import { HeraldError } from "../../../src/contract/errors/errors.ts";
import type { ScheduledRequest } from "../../../src/contract/schedule.ts";
import { bootstrapId } from "../../../src/services/keys/bootstrap-key.ts";
import { type Caller, unrestricted } from "../../../src/services/keys/permissions.ts";
import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";
import type { ScheduleClimate } from "./climate.ts";
import type { Node } from "./node.ts";

/** How a call ended: done, refused because the send no longer waits, or unknown. Times in milliseconds. */
type Ended = { outcome: "done" | "over" | "unknown"; at: number };

/** A version of a scheduled send: what it says when it is sent, when it is due, and what the caller was answered. */
export type Version = Ended & { text: string; sendAt: number };

/** What a caller did with one scheduled send, one call after another. */
export type Order = { org: string; id: string; versions: Version[]; cancellation?: Ended };

/** What all callers share. */
export type Callers = {
  random: Random;
  climate: ScheduleClimate;
  orgs: string[];
  orders: Order[];
  now(): number;
  pickNode(): Node | undefined;
  onError(error: unknown): void;
};

const caller: Caller = { keyId: bootstrapId, rights: unrestricted, secretExpiresAt: undefined, digest: undefined };
const mostAttempts = 6;
const retryMs = 200;

/** Schedules, replaces and cancels sends through any node, until it has done its part of the orders. */
export async function runCaller(callers: Callers): Promise<void> {
  const { random, climate, orders } = callers;
  const gapMs = Math.ceil((climate.activeMs * climate.callers) / climate.orders);
  while (orders.length < climate.orders) {
    const order: Order = { org: random.pick(callers.orgs), id: `order-${orders.length + 1}`, versions: [] };
    orders.push(order);
    follow(callers, order).catch(callers.onError);
    await pause(random.integer(0, gapMs));
  }
}

async function follow(callers: Callers, order: Order): Promise<void> {
  const { random, climate, now } = callers;
  await put(callers, order);
  if (random.next() < climate.replaced) {
    await pauseUntilAbout(callers, order);
    await put(callers, order);
  }
  if (random.next() < climate.cancelled) {
    await pauseUntilAbout(callers, order);
    const outcome = await call(callers, ({ schedule }) => schedule.cancel(caller, order));
    order.cancellation = { outcome, at: now() };
  }
}

/** Waits until about the time when the send is due, as the interesting things happen then. */
async function pauseUntilAbout({ random, now }: Callers, { versions }: Order): Promise<void> {
  const dueInMs = (versions.at(-1)?.sendAt ?? 0) - now();
  const aroundMs = random.pick([5, 50, 300]);
  await pause(
    Math.max(0, random.next() < 0.3 ? random.next() * dueInMs : dueInMs + random.integer(-aroundMs, aroundMs)),
  );
}

async function put(callers: Callers, order: Order): Promise<void> {
  const { random, climate, now } = callers;
  const text = `${order.id} version ${order.versions.length + 1}.`;
  const isTogether = random.next() < 0.5;
  const sendAt = isTogether
    ? Math.ceil(now() / climate.aheadMs) * climate.aheadMs
    : now() + random.integer(-50, climate.aheadMs);
  const version: Version = { text, sendAt: Math.max(0, sendAt), outcome: "unknown", at: 0 };
  order.versions.push(version);
  const request = requestOf(order.org, text, random);
  const send_at = version.sendAt;
  version.outcome = await call(callers, ({ schedule }) => schedule.put(caller, order, { send_at, request }));
  version.at = now();
}

/** Messages, with and without an id of their own, and system messages, all of which tell their version. */
function requestOf(organizationId: string, text: string, random: Random): ScheduledRequest {
  const sender = { organizationId, senderId: "u1" };
  if (random.next() < 0.2) return { ...sender, messageSystem: { uids: ["u2", "u3"], x: { text } } };
  const message = { cid: "c1", body: text, x: {}, attachments: [] };
  return { ...sender, message: random.next() < 0.3 ? { ...message, id: text } : message };
}

/** Calls one node after another until one answers. */
async function call({ random, pickNode }: Callers, work: (node: Node) => Promise<unknown>): Promise<Ended["outcome"]> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const node = pickNode();
    try {
      if (node !== undefined && (await Promise.race([work(node), node.died])) !== "died") return "done";
    } catch (error) {
      if (!(error instanceof HeraldError)) throw error;
      if (error.code === "already_sent") return "over";
      if (error.code === "not_found") return "unknown"; // to cancel what was never scheduled
      if (error.code !== "unavailable") throw error;
    }
    await pause(random.integer(1, retryMs));
  }
  return "unknown";
}
