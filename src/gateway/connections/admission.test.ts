import { expect, test } from "bun:test";
import { HeraldError } from "../../contract/errors/errors.ts";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createSteppedThread } from "../../lib/event-loop/testing/stepped-thread.ts";
import { createOwner } from "../../lib/owner.ts";
import { createLimiter } from "../../lib/queues/limiter.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { createConnectionQuotas } from "../limits/connection-quotas.ts";
import { createUserBudgets } from "../limits/user-budgets.ts";
import { createAdmission } from "./admission.ts";

const clock: Clock = { now: () => 0 };
const unused = () => {
  throw new Error("not used here");
};
const quotaOfAddress = 4;

/**
 * Creates an admission at which users named `over …` have used up their budgets, on a thread that lets one begin in each turn
 * that the test takes. Records who was refused and why.
 */
function useAdmission() {
  const thread = createSteppedThread();
  const quotas = createConnectionQuotas({ connectionsPerUser: 100, connectionsPerAddress: quotaOfAddress });
  const budgets = createUserBudgets({ quota: 10, clock });
  const admission = createAdmission({
    sessions: {
      requireUnrevoked: () => undefined,
      async identify(token) {
        if (token === "bad") throw new HeraldError("unauthorized");
        const [org = "", uid = ""] = token.split("/");
        return { org, uid, issuedAt: 0, expiresAt: 1, tokenId: undefined };
      },
      open: async (identity) => ({ ...identity, head: 0, headId: undefined, cids: [], hasInboxes: false }),
    },
    budgets,
    organizationLimits: {
      know: async () => undefined,
      limitsOf: () => ({ requestsPerSecond: 0, messagesPerSecond: 0, connections: 0, storedBytes: 0 }),
    },
    quotas,
    lastEnds: { noteRefusal: () => undefined },
    thread,
    openings: createLimiter({ places: 10, maxWaiting: 10, maxWaitMs: 1_000, whenBusy: unused, clock }),
  });
  budgets.charge({ org: "o", uid: "over" }, 10);
  const refused: string[] = [];
  const note = (name: string, work: Promise<unknown>) =>
    void work.catch((error: unknown) => refused.push(`${name} ${error instanceof HeraldError ? error.code : error}`));
  return { thread, quotas, admission, refused, note };
}

const newOwner = () => createOwner(unused);

async function afterSomeTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

test("refusals are told one after another, whatever their reason", async () => {
  const { thread, admission, refused, note } = useAdmission();
  note("first", admission.admit(newOwner(), "o/over", "a"));
  await afterSomeTurns();
  expect(refused).toEqual(["first rate_limited"]); // alone, so at once
  note("by token", admission.admit(newOwner(), "bad", "a"));
  note("by budget", admission.admit(newOwner(), "o/over", "a"));
  note("renewing", admission.renew(newOwner(), "o/over", "a"));
  note("asking", admission.requireBudget(newOwner(), { org: "o", uid: "over" }));
  await afterSomeTurns();
  expect(refused).toEqual(["first rate_limited"]);
  expect(thread.waiting).toBe(4);
  expect(await admission.admit(newOwner(), "o/good", "a")).toMatchObject({ uid: "good" }); // no waiting
  thread.open();
  await afterSomeTurns();
  expect(refused.slice(1).toSorted()).toEqual([
    "asking rate_limited",
    "by budget rate_limited",
    "by token unauthorized",
    "renewing rate_limited",
  ]);
});

test("a client that hangs up while waiting to be refused leaves the queue", async () => {
  const { thread, admission, note } = useAdmission();
  const owner = newOwner();
  note("first", admission.admit(newOwner(), "bad", "a"));
  for (let count = 0; count < 10; count++) note("gone", admission.admit(owner, "bad", "a"));
  await afterSomeTurns();
  expect(thread.waiting).toBe(10);
  owner.close();
  expect(thread.waiting).toBe(0);
});

test("an address may have as many refused connections waiting as open ones; any more are closed at once", async () => {
  const { thread, quotas, admission, refused, note } = useAdmission();
  const owners = Array.from({ length: 3 * quotaOfAddress }, newOwner);
  note("first", admission.admit(newOwner(), "bad", "b")); // uses up the turn
  for (const [index, owner] of owners.entries()) note(`${index}`, admission.enter(owner, "a"));
  await afterSomeTurns();
  for (let turn = 0; turn < owners.length; turn++) {
    thread.step(); // all enter, before those who are refused leave
    await afterSomeTurns();
  }
  expect(owners.map(({ isClosed }) => isClosed)).toEqual(owners.map((_, index) => index >= 2 * quotaOfAddress));
  expect(refused).toHaveLength(1 + quotaOfAddress);
  expect(quotas.count().addresses).toBe(2 * quotaOfAddress);
  for (const owner of owners) owner.close();
  expect(quotas.count().addresses).toBe(0);
  expect(thread.waiting).toBe(0);
});
