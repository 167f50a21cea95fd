import { expect, test } from "bun:test";
import { rateLimited } from "../../contract/errors/errors.ts";
import { steadyClock } from "../../lib/time/clock.ts";
import { onceAllowed } from "./once-allowed.ts";

const refusal = (waitMs?: number) =>
  rateLimited({
    detail: "too many",
    policy: "tries",
    quota: 1,
    retryAfterSeconds: 1,
    ...(waitMs !== undefined && { waitMs }),
  });

/** Tries what is refused with each of the errors in turn, and then allowed; counts the attempts. */
async function attempt(errors: Error[], options: { withinMs?: number; isOver?: () => boolean } = {}) {
  let attempts = 0;
  const outcome = await onceAllowed(
    () => {
      const error = errors[attempts++];
      if (error !== undefined) throw error;
      return "allowed";
    },
    { withinMs: 10_000, elapsed: steadyClock, ...options },
  ).catch((error: unknown) => error);
  return { outcome, attempts };
}

test("an attempt that a limit refuses is repeated once, when the limit said that it allows more", async () => {
  const startedAt = performance.now();
  expect(await attempt([refusal(120), refusal(80)])).toEqual({ outcome: "allowed", attempts: 3 });
  expect(performance.now() - startedAt).toBeWithin(195, 1_000);
});

test("it is refused at once if the limit allows no more in time, if nobody needs it any more, or for another reason", async () => {
  const late = refusal(10_001);
  expect(await attempt([late])).toEqual({ outcome: late, attempts: 1 });
  const over = refusal(5);
  expect(await attempt([over], { isOver: () => true })).toEqual({ outcome: over, attempts: 1 });
  for (const other of [refusal(), new Error("something else")])
    expect(await attempt([other])).toEqual({ outcome: other, attempts: 1 });
});

test("the waits count together", async () => {
  const second = refusal(60);
  expect(await attempt([refusal(60), second], { withinMs: 100 })).toEqual({ outcome: second, attempts: 2 });
});
