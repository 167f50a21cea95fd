import type { Random } from "../harness/random.ts";

/** What a world has of inboxes, and of messages that expire. Times in milliseconds, chances from 0 to 1. */
export type InboxClimate = ReturnType<typeof chooseInboxes>;

/** The traits of a world without inboxes: system messages reach who is online, and are gone. */
export const noInboxes: InboxClimate = {
  systems: 0.15,
  kept: 0,
  keptMs: 0,
  keys: 0,
  silent: 0,
  systemRecalls: 0,
  markers: 0,
  expiring: 0,
  lastMs: 0,
  skewMs: 0,
};

/** Chooses the traits of a world with inboxes. */
export function chooseInboxes(random: Random) {
  const oneOf = <Value>(...values: [Value, ...Value[]]): Value => random.pick(values);
  return {
    /** How often a write is a system message, and how often it is kept. */
    systems: oneOf(0.2, 0.5, 0.8),
    kept: oneOf(0.3, 0.8, 1),
    /** The longest that one is kept. */
    keptMs: oneOf(2_000, 100_000, 100_000, 100_000),
    /** How often a kept one has one of two keys. */
    keys: oneOf(0, 0.3, 0.8),
    silent: oneOf(0, 0.2),
    /** How often a write takes up to three system messages of one sender back. */
    systemRecalls: oneOf(0, 0.1, 0.2),
    /** Who mark what is in inboxes as seen or read. */
    markers: oneOf(0, 1, 3),
    /** How often a message or system message expires, how long it lasts at most, and how far clocks of nodes are off at most. */
    expiring: oneOf(0, 0.3, 0.8),
    lastMs: oneOf(100, 1_000, 10_000),
    skewMs: oneOf(0, 3_000),
  };
}
