import * as expiry from "./faulty/expiry.ts";
import * as inboxes from "./faulty/inboxes.ts";
import type { PlantedBug } from "./planted-bugs.ts";
import { product } from "./product.ts";

const expiring = { expiring: 0.8, lastMs: 1_000 };
const writtenLate = /is written after it has expired/;
const counted = /is told of \d+ unread/;

/** Bugs of inboxes and of expiry that the simulation must find, by name. */
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
    "what has expired is played": { product: expiry.playsExpired, climate: expiring, sign: writtenLate },
    "what has expired since it was read or played is given to who joins": {
      product: expiry.joinsWithExpired,
      climate: expiring,
      sign: writtenLate,
    },
    "what expires while it waits for sockets is written": {
      product: expiry.writesWaitingExpired,
      climate: {
        ...expiring,
        thread: { sliceUs: 1, turnMs: 10 },
        bursts: 5,
        fanout: { socketsPerShard: 1, sliceUs: 1 },
      },
      sign: writtenLate,
    },
    "what expires while it waits for a slow stream is written": {
      product: expiry.keepsWaitingExpired,
      climate: { ...expiring, streams: 1, slowReaders: 1, large: 0.4, largeBytes: 150_000, writes: 100 },
      sign: writtenLate,
    },
    "a node expires by its own clock": {
      product: expiry.expiresByOwnClock,
      climate: { ...expiring, skewMs: 3_000 },
      sign: writtenLate,
    },
    "edits do not expire with their message": {
      product,
      expiryFlaw: "edits last",
      climate: { ...expiring, edits: 0.3 },
      sign: writtenLate,
    },
    "inboxes show what has expired until it is blanked": {
      product,
      expiryFlaw: "inboxes show what has expired",
      climate: { ...expiring, markers: 3 },
      sign: /which is not there|is told of \d+ unread/,
    },
    "what has expired is blanked, and nobody is told": {
      product,
      expiryFlaw: "tells nobody",
      climate: expiring,
      sign: /does not end/,
    },
    "what was taken back before it expired ends again": {
      product,
      expiryFlaw: "ends what was taken back",
      climate: { ...expiring, recalls: 0.2 },
      sign: /ends again/,
    },
    "an end that failed is not tried again": {
      product: expiry.triesNoEndAgain,
      climate: { ...expiring, aborts: 0.1 },
      sign: /does not end/,
    },
    "a node ends only what it was asked for, and dies": {
      product: expiry.endsOwnOnly,
      climate: { ...expiring, restarts: 2 },
      sign: /does not end/,
    },
    "what expires ends early": { product: expiry.endsEarly, climate: expiring, sign: /ends at \d+, and expires at/ },
  }).map(([name, bug]) => [name, { ...bug, hasInboxes: true }]),
);
