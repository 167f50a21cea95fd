import { expect, test } from "bun:test";
import { unavailable } from "../../contract/errors/errors.ts";
import type { OrganizationBudget } from "../../store/ports.ts";
import { createOrganizationLimits } from "./organization-limits.ts";

const defaults = { requestsPerSecond: 5_000, messagesPerSecond: 0, connections: 0, storedBytes: 0 };
const none = { requestsPerSecond: null, messagesPerSecond: null, connections: null, storedBytes: null };

function create(maxOrganizations?: number) {
  const stored = new Map<string, OrganizationBudget>();
  const asked: string[][] = [];
  const time = { now: 0 };
  const link = { isCut: false };
  const limits = createOrganizationLimits({
    organizations: {
      async budgets(orgs) {
        asked.push([...orgs]);
        if (link.isCut) throw unavailable();
        return orgs.flatMap((org) => stored.get(org) ?? []);
      },
    },
    defaults,
    elapsed: { now: () => time.now },
    onError(error) {
      throw error;
    },
    ...(maxOrganizations !== undefined && { maxOrganizations }),
  });
  const set = (id: string, own: Partial<OrganizationBudget["limits"]>, storedBytes = 0) =>
    stored.set(id, { id, limits: { ...none, ...own }, storedBytes });
  return { limits, set, asked, time, link, [Symbol.asyncDispose]: limits.stop };
}

test("defaults apply until the organization's own limits are known, which are then trusted for 4 seconds", async () => {
  await using context = create();
  const { limits, set, time, asked } = context;
  set("o", { connections: 5, requestsPerSecond: 0 }, 70);
  expect(limits.limitsOf("o")).toEqual(defaults);
  await limits.know("o");
  expect(limits.limitsOf("o")).toEqual({ ...defaults, connections: 5, requestsPerSecond: 0 });
  expect([limits.storedBytesOf("o"), limits.storedBytesOf("other")]).toEqual([70, undefined]);
  time.now += 3_999;
  expect(limits.know("o")).toBeUndefined();
  time.now += 1;
  set("o", { connections: 6 });
  await limits.know("o");
  expect(limits.limitsOf("o").connections).toBe(6);
  expect(asked).toEqual([["o"], ["o"]]);
});

test("a change made here takes effect at once, and bytes stored here count until the store reports them", async () => {
  await using context = create();
  const { limits, set } = context;
  set("o", {}, 10);
  await limits.know("o");
  const [first, second, third] = [limits.reserve("o", 5), limits.reserve("o", 7), limits.reserve("o", 9)];
  limits.reserve("nowhere", 5)(true);
  expect([limits.storedBytesOf("o"), limits.storedBytesOf("nowhere")]).toEqual([31, undefined]);
  first(true);
  second(false);
  expect(limits.storedBytesOf("o")).toBe(24);
  set("o", { storedBytes: 20 }, 15);
  const asking = limits.refresh("o");
  await Promise.resolve();
  expect(limits.storedBytesOf("o")).toBe(24);
  await asking;
  expect([limits.storedBytesOf("o"), limits.limitsOf("o").storedBytes]).toEqual([24, 20]);
  third(true);
  set("o", {}, 24);
  await limits.refresh("o");
  expect(limits.storedBytesOf("o")).toBe(24);
});

test("the last known limits apply while the store does not answer", async () => {
  await using context = create();
  const { limits, set, link, time } = context;
  set("o", { connections: 5 });
  await limits.know("o");
  link.isCut = true;
  time.now += 60_000;
  await limits.know("o");
  expect(limits.limitsOf("o").connections).toBe(5);
  await limits.know("new");
  expect(limits.limitsOf("new")).toEqual(defaults);
});

test("a thousand concurrent callers share a few queries, and the number of cached organizations is bounded", async () => {
  await using context = create(100);
  const { limits, asked } = context;
  await Promise.all(Array.from({ length: 1_000 }, (_, index) => limits.know(`o${index % 300}`)));
  expect(asked.length).toBeLessThanOrEqual(4);
  const known = Array.from({ length: 300 }, (_, index) => limits.know(`o${index}`) === undefined);
  expect(known.filter(Boolean).length).toBe(100);
});
