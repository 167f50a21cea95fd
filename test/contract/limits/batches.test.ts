import { describe, expect, test } from "bun:test";
import { type OpenBatch, openBatch, sendBatch } from "../../harness/clients/batch.ts";
import { eventually } from "../../harness/deadline.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "each node counts requests, messages and batches by itself",
  env: { HERALD_LIMIT_REQUESTS_PER_SECOND: "1000", HERALD_LIMIT_REQUESTS_BURST: "100" },
});

type Limits = { requests_per_second?: number; messages_per_second?: number };

async function limited(limits: Limits): Promise<{ org: Organization; lineOf: (body?: string) => object }> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice"]);
  await herald().admin("PUT", org.path(), { limits });
  return { org, lineOf: (body = "x") => ({ organizationId: org.id, senderId: "alice", message: { cid, body } }) };
}

const timed = async <Result>(work: Promise<Result>): Promise<[Result, number]> => {
  const startedAt = performance.now();
  const result = await work;
  return [result, performance.now() - startedAt];
};

describe("a batch waits instead of failing", () => {
  test("for the message rate of its organization, and others do not wait with it", async () => {
    const slow = await limited({ messages_per_second: 20 });
    const quick = await limited({});
    const burst = (
      await sendBatch(
        herald(),
        Array.from({ length: 30 }, () => slow.lineOf()),
      )
    ).answers;
    expect(burst.every(({ status }) => status === 201)).toBe(true);
    const { key } = await createKey(herald());
    const waiting = timed(
      sendBatch(
        herald(),
        Array.from({ length: 60 }, () => slow.lineOf()),
      ),
    );
    const [sent, quickMs] = await timed(
      sendBatch(
        herald(),
        Array.from({ length: 20 }, () => quick.lineOf()),
        { key },
      ),
    );
    const [{ answers }, slowMs] = await waiting;
    for (const { status } of [...answers, ...sent.answers]) expect(status).toBe(201);
    expect(slowMs).toBeGreaterThan(1_500);
    expect(quickMs).toBeLessThan(slowMs);
  });

  test("for the request rate of its organization, whichever key it has, and calls that name none do not pay for it", async () => {
    const { org, lineOf } = await limited({ requests_per_second: 200 });
    for (const organization of [null, org.id]) {
      const { key } = await createKey(herald(), { organization });
      const lines = Array.from({ length: 60 }, () => lineOf());
      const [{ answers }, ms] = await timed(sendBatch(herald(), lines, { key }));
      expect(answers.map(({ status }) => status)).toEqual(Array(60).fill(201));
      expect(ms).toBeGreaterThan(150);
    }
    expect((await herald().admin("GET", "/admin/organizations?limit=1")).status).toBe(200);
  });

  test("for the request rate of its key", async () => {
    const { lineOf } = await limited({});
    const { key } = await createKey(herald());
    const lines = Array.from({ length: 300 }, () => lineOf());
    const [{ answers }, ms] = await timed(sendBatch(herald(), lines, { key }));
    expect(answers.map(({ status }) => status)).toEqual(Array(300).fill(201));
    expect(ms).toBeGreaterThan(150); // the burst is 100
  });
});

describe("a line that is replayed", () => {
  const replays = 150;

  // The bursts of these limits are 5 messages, and one request.
  /** Sends a message, and then as often again, one after the other or at once; returns the statuses of those. */
  async function replay(limits: Limits, isAtOnce: boolean): Promise<number[]> {
    const { org } = await limited({});
    const [cid, { key }] = [await org.conversation(["alice"]), await createKey(herald())];
    const body = { organizationId: org.id, senderId: "alice", message: { id: "m", cid, body: "x" } };
    await herald().admin("PUT", org.path(), { limits });
    const send = () => herald().admin<unknown>("POST", "/admin/message", body, { "Admin-Api-Key": key });
    expect((await send()).status).toBe(201);
    if (isAtOnce) return (await Promise.all(Array.from({ length: replays }, send))).map(({ status }) => status);
    const statuses: number[] = [];
    while (statuses.length < replays) statuses.push((await send()).status);
    return statuses;
  }

  test("does not count as a message", async () => {
    expect(new Set(await replay({ messages_per_second: 50 }, false))).toEqual(new Set([201]));
  });

  test("counts as a request", async () => {
    expect(await replay({ requests_per_second: 5 }, true)).toContain(429);
  });
});

describe("batches at once", () => {
  const openAll = async (count: number, key: string, line: object): Promise<OpenBatch[]> => {
    const batches = await Promise.all(Array.from({ length: count }, () => openBatch(herald(), { key })));
    for (const batch of batches) batch.write(line);
    for (const batch of batches) expect((await batch.next())?.status).toBe(201);
    return batches;
  };

  test("are 4 of an organization; another has its own, and a place is free again after each", async () => {
    const [one, other] = [await limited({}), await limited({})];
    const { key } = await createKey(herald(), { organization: one.org.id });
    const batches = await openAll(4, key, one.lineOf());
    const { status, text } = await sendBatch(herald(), [one.lineOf()], { key });
    expect({ status, code: JSON.parse(text).code }).toEqual({ status: 429, code: "rate_limited" });
    const others = await createKey(herald(), { organization: other.org.id });
    expect((await sendBatch(herald(), [other.lineOf()], { key: others.key })).status).toBe(200);
    batches[0]?.end();
    batches[1]?.leave();
    await eventually(
      async () => ((await sendBatch(herald(), [one.lineOf()], { key })).status === 200 ? true : undefined),
      "a free place",
    );
    for (const batch of batches.slice(2)) batch.end();
  });
});
