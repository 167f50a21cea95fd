import { expect, test } from "bun:test";
import { rateLimited } from "../../contract/errors/errors.ts";
import { createTokenBuckets } from "../../lib/rates/token-buckets.ts";
import { steadyClock, systemClock } from "../../lib/time/clock.ts";
import { unrestricted } from "../keys/permissions.ts";
import { createBatchSends } from "./batch-sends.ts";

const rate = { perSecond: 2, burst: 1 };
const never = () => Promise.reject(new Error("no line is a dry run"));

/** The sends of a batch to an organization that may send twice a second. */
function begin({ isReplay, mayWaitMs = 10_000 }: { isReplay: boolean; mayWaitMs?: number }) {
  const buckets = createTokenBuckets({ clock: steadyClock });
  const { begin } = createBatchSends({
    sends: {
      append: async ({ id }) => {
        const found = { id, createdAt: 0 };
        return isReplay ? { outcome: "replayed", ...found } : { outcome: "stored", ...found, offset: 1 };
      },
    },
    use: {
      admitSend() {
        const waitMs = buckets.waitMs("o", rate);
        if (waitMs > 0) {
          const refusal = { detail: "too fast", policy: "messages", quota: 2, retryAfterSeconds: 1, waitMs };
          throw rateLimited(refusal);
        }
        buckets.charge("o", rate, 1);
        return (isStored) => buckets.charge("o", rate, isStored ? 0 : -1);
      },
    },
    dryRuns: { message: never, systemMessage: never },
    clock: systemClock,
    elapsed: steadyClock,
    caller: { keyId: "k", rights: unrestricted, secretExpiresAt: undefined, digest: undefined },
    isDryRun: false,
    mayWaitMs,
    isOver: () => false,
  });
  const message = { id: "m", cid: "c", body: "x", x: {}, attachments: [] };
  return () => begin({ kind: "message", request: { organizationId: "o", senderId: "u", message }, work: 0 });
}

async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

test("a line waits as long as the rate of its organization says", async () => {
  const next = begin({ isReplay: false });
  await next();
  expect(await tookMs(next)).toBeWithin(480, 1_000);
});

test("a line does not wait for what earlier lines turn out not to cost, as they are replayed", async () => {
  const next = begin({ isReplay: true });
  const lines = async () => {
    for (let line = 0; line < 50; line++) await next();
  };
  expect(await tookMs(lines)).toBeLessThan(480);
});

test("a line is refused at once if it would have to wait too long", async () => {
  const next = begin({ isReplay: false, mayWaitMs: 100 });
  await next();
  const refused = async () => await expect(next()).rejects.toMatchObject({ code: "rate_limited" });
  expect(await tookMs(refused)).toBeLessThan(90);
});
