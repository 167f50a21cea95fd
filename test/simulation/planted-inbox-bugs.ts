import * as inboxes from "./faulty/inboxes.ts";
import type { PlantedBug } from "./planted-bugs.ts";
import { product } from "./product.ts";

const counted = /is told of \d+ unread/;

/** Bugs of inboxes that the simulation must find, by name. */
export const plantedInboxBugs: Record<string, PlantedBug> = Object.fromEntries(
  Object.entries<PlantedBug>({
    "system messages are replayed that were not kept": { product, inboxFlaw: "keeps all", sign: /did not miss/ },
    "kept system messages of a conversation are replayed to who joined it later": {
      product,
      inboxFlaw: "keeps for those who join",
      sign: /did not miss/,
    },
    "what a newer one with its key has replaced is counted": {
      product,
      inboxFlaw: "replaces nothing",
      climate: { keys: 0.8 },
      sign: counted,
    },
    "who has left a conversation is not told of recalls": {
      product,
      inboxFlaw: "forgets those who left",
      sign: /no longer unread/,
    },
    "since leaves recalls of system messages out": { product: inboxes.replaysNoSystemRecalls, sign: /is not given/ },
    "since leaves kept system messages out": { product: inboxes.replaysNothingKept, sign: /is not given/ },
    "kept system messages are no part of what is too much to recover": {
      product: inboxes.countsNothingKept,
      sign: /too much to recover/,
    },
    "kept system messages are replayed after the messages of a page": {
      product: inboxes.replaysKeptLast,
      sign: /hears .* after/,
    },
    "what was read before a recall of system messages is written after it": {
      product: inboxes.forgetsSystemRecalls,
      sign: /is written after its recall/,
    },
    "system messages that wait for a slow stream are written after their recall": {
      product: inboxes.keepsWaitingSystemMessages,
      climate: { streams: 1, slowReaders: 1, large: 0.4, largeBytes: 150_000, systemRecalls: 0.2, writes: 100 },
      sign: /is written after its recall/,
    },
    "who joins is not told of recalls of system messages that were played meanwhile": {
      product: inboxes.joinsWithoutSystemRecalls,
      sign: /hears|heard/,
    },
    "what a user marks is told to one connection": {
      product: inboxes.tellsMarksToOne,
      climate: { markers: 3, fanout: { socketsPerShard: 1, sliceUs: 1_000 } },
      sign: /hears|heard/,
    },
    "what a user marks is played to nobody": { product: inboxes.playsMarksToNobody, sign: /hears|heard/ },
    "what comes while a user connects is counted, and heard": { product: inboxes.countsBeyondSnapshot, sign: counted },
    "silent ones are counted": { product: inboxes.countsSilent, climate: { silent: 0.2 }, sign: counted },
    "marks do not look at the marks again, so that all hear twice what is marked": {
      product: inboxes.trustsMarksOfTheLook,
      climate: { markers: 3 },
      sign: /says again/,
    },
    "marks of all mark what came after the log was set back": {
      product: inboxes.marksBeyondTheLog,
      climate: { failovers: 1, failoverMs: 0, markers: 3, store: { latencyMs: 300, outages: 0, misses: 0 } },
      sign: /and not both/,
    },
    "marks do not look whether the log is still the one they looked at": {
      product: inboxes.marksAnyLog,
      climate: { failovers: 1, failoverMs: 0, markers: 3, store: { latencyMs: 300, outages: 0, misses: 0 } },
      sign: /and not both|not in the inbox/,
    },
  }).map(([name, bug]) => [name, { ...bug, hasInboxes: true }]),
);
