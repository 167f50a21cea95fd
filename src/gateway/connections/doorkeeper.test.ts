import { expect, test } from "bun:test";
import { HeraldError } from "../../contract/errors/errors.ts";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createTurnstile } from "../../lib/event-loop/turnstile.ts";
import { createOwner } from "../../lib/owner.ts";
import { createLimiter } from "../../lib/queues/limiter.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { createPlaces } from "../limits/places.ts";
import { createUserBudgets } from "../limits/user-budgets.ts";
import { createDoorkeeper } from "./doorkeeper.ts";

const clock: Clock = { now: () => 0 };
const unused = () => {
  throw new Error("not used here");
};
const placesOfAddress = 4;

/**
 * Creates a door at which users named `over …` have used up their budgets, and refusals leave at one per minute.
 * Records who was refused and why.
 */
function openDoor({ opening = createTurnstile(Number.POSITIVE_INFINITY) } = {}) {
  const exit = createTurnstile(1, { turnMs: 60_000 });
  const places = createPlaces({ connectionsPerUser: 100, connectionsPerAddress: placesOfAddress });
  const users: string[] = [];
  const budgets = createUserBudgets({ quota: 10, clock, onUse: (org) => users.push(org) });
  const doorkeeper = createDoorkeeper({
    sessions: {
      isSuspect: () => false,
      requireUnrevoked: () => undefined,
      async identify(token) {
        if (token === "bad") throw new HeraldError("unauthorized");
        const [org = "", uid = ""] = token.split("/");
        return { org, uid, issuedAt: 0, expiresAt: 1, tokenId: undefined };
      },
      open: async (identity) => ({ ...identity, head: 0, headId: undefined, cids: [] }),
    },
    budgets,
    organizationLimits: {
      know: async () => undefined,
      limitsOf: () => ({ requestsPerSecond: 0, messagesPerSecond: 0, connections: 0, storedBytes: 0 }),
    },
    places,
    entrance: createTurnstile(1_000),
    exit,
    opening,
    admission: createLimiter({ places: 10, maxWaiting: 10, maxWaitMs: 1_000, whenBusy: unused, clock }),
  });
  budgets.charge({ org: "o", uid: "over" }, 10);
  const refused: string[] = [];
  const note = (name: string, work: Promise<unknown>) =>
    void work.catch((error: unknown) => refused.push(`${name} ${error instanceof HeraldError ? error.code : error}`));
  return { exit, places, doorkeeper, refused, note, users };
}

const newOwner = () => createOwner(unused);

async function afterSomeTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

test("refusals are told one after another, whatever their reason", async () => {
  const { exit, doorkeeper, refused, note } = openDoor();
  note("first", doorkeeper.admit(newOwner(), "o/over", "a"));
  await afterSomeTurns();
  expect(refused).toEqual(["first rate_limited"]); // alone, so at once
  note("by token", doorkeeper.admit(newOwner(), "bad", "a"));
  note("by budget", doorkeeper.admit(newOwner(), "o/over", "a"));
  note("renewing", doorkeeper.renew(newOwner(), "o/over", "a"));
  note("asking", doorkeeper.requireBudget(newOwner(), { org: "o", uid: "over" }));
  await afterSomeTurns();
  expect(refused).toEqual(["first rate_limited"]);
  expect(exit.waiting).toBe(4);
  expect(await doorkeeper.admit(newOwner(), "o/good", "a")).toMatchObject({ uid: "good" }); // no waiting
  exit.open();
  await afterSomeTurns();
  expect(refused.slice(1).toSorted()).toEqual([
    "asking rate_limited",
    "by budget rate_limited",
    "by token unauthorized",
    "renewing rate_limited",
  ]);
});

test("sessions of an organization open at its pace, and those of another meanwhile", async () => {
  const opening = createTurnstile(Number.POSITIVE_INFINITY, {
    names: { mostOf: (org) => (org === "crowd" ? 2 : Number.POSITIVE_INFINITY), ms: 60_000 },
  });
  const { doorkeeper, users } = openDoor({ opening });
  const admitted: string[] = [];
  const admit = (org: string, uid: string) =>
    void doorkeeper.admit(newOwner(), `${org}/${uid}`, "a").then(() => admitted.push(org));
  for (const uid of ["1", "2", "3"]) admit("crowd", uid);
  admit("other", "1");
  await afterSomeTurns();
  expect(admitted.toSorted()).toEqual(["crowd", "crowd", "other"]);
  expect(users).toEqual(["crowd", "crowd", "crowd", "other"]);
  opening.open();
  await afterSomeTurns();
  expect(admitted).toHaveLength(4);
});

test("a user who connects again and again waits with the refused; others, and a few devices at once, do not", async () => {
  const { exit, doorkeeper } = openDoor();
  await exit.pass("another"); // uses up the exit's turn
  const admitted: string[] = [];
  const admit = (token: string) => void doorkeeper.admit(newOwner(), token, "a").then(({ uid }) => admitted.push(uid));
  for (let count = 0; count < 6; count++) admit("o/alice");
  admit("o/bob");
  await afterSomeTurns();
  expect(admitted.toSorted()).toEqual(["alice", "alice", "alice", "alice", "bob"]);
  expect(exit.waiting).toBe(2);
  exit.open();
  await afterSomeTurns();
  expect(admitted).toHaveLength(7);
});

test("a client that hangs up while waiting to be refused leaves the queue", async () => {
  const { exit, doorkeeper, note } = openDoor();
  const owner = newOwner();
  note("first", doorkeeper.admit(newOwner(), "bad", "a"));
  for (let count = 0; count < 10; count++) note("gone", doorkeeper.admit(owner, "bad", "a"));
  await afterSomeTurns();
  expect(exit.waiting).toBe(10);
  owner.close();
  expect(exit.waiting).toBe(0);
});

test("an address may have as many refused connections waiting as open ones; any more are closed at once", async () => {
  const { exit, places, doorkeeper, refused, note } = openDoor();
  const owners = Array.from({ length: 3 * placesOfAddress }, newOwner);
  note("first", doorkeeper.admit(newOwner(), "bad", "b")); // uses up the exit's turn
  for (const [index, owner] of owners.entries()) note(`${index}`, doorkeeper.enter(owner, "a"));
  await afterSomeTurns();
  expect(exit.waiting).toBe(placesOfAddress);
  expect(owners.map(({ isClosed }) => isClosed)).toEqual(owners.map((_, index) => index >= 2 * placesOfAddress));
  expect(refused).toHaveLength(1 + placesOfAddress);
  expect(places.count().addresses).toBe(2 * placesOfAddress);
  for (const owner of owners) owner.close();
  expect(places.count().addresses).toBe(0);
  expect(exit.waiting).toBe(0);
});
