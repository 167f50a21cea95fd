import { type Climate, headCheckMs, threadMsOf } from "../climate.ts";
import type { Hearing } from "../models/client.ts";
import type { Commit } from "../models/organization.ts";
import type { History } from "./history.ts";

/** By when a node has noticed the loss: by the first hint of the log that continued, or at its head check. */
export function foundAt(
  { climate, outages, organization }: History,
  { org, joinedAt }: Hearing,
  knownAt: number,
  lostAt: number,
): number {
  if (joinedAt === undefined || climate.store.misses > 0) return Number.POSITIVE_INFINITY;
  const next = organization(org).commits.find((commit) => commit !== undefined && commit.at >= lostAt);
  const isTold = climate.losesNoHint && next !== undefined;
  const toldAt = isTold ? next.at + climate.announceMs + climate.bus.lateMs : Number.POSITIVE_INFINITY;
  return afterOutages(
    outages,
    Math.max(knownAt, joinedAt),
    (from) => Math.min(from + headCheckMs, Math.max(from, toldAt)) + readsMsOf(climate),
  );
}

/** By when an event must have been heard, whatever hints were lost; unlimited if single reads fail. */
export function dueAt(
  { climate, heals, outages }: History,
  { node, joinedAt, isSlowReader }: Hearing,
  { at }: Commit,
): number {
  if (joinedAt === undefined || isSlowReader || climate.store.misses > 0) return Number.POSITIVE_INFINITY;
  const readsMs = readsMsOf(climate);
  const heal = heals.find((one) => one.node === node && one.at > at)?.at ?? Number.POSITIVE_INFINITY;
  return afterOutages(outages, Math.max(at, joinedAt), (from) => {
    const toldAt = climate.losesNoHint ? from + climate.announceMs + climate.bus.lateMs : from + headCheckMs;
    return Math.min(toldAt, heal < from ? toldAt : heal) + readsMs;
  });
}

/**
 * When something is due that takes a while from a given moment. If the database is away at that time, it starts over
 * afterwards.
 */
function afterOutages(outages: History["outages"], begin: number, dueFrom: (from: number) => number): number {
  let from = begin;
  for (;;) {
    const due = dueFrom(from);
    const outage = outages.find((one) => one.from <= due && from <= one.to);
    if (outage === undefined) return due;
    from = outage.to + 1;
  }
}

function readsMsOf(climate: Climate): number {
  const { store, large } = climate;
  return 12 * store.latencyMs + (large > 0 ? 2_000 : 600) + threadMsOf(climate);
}
