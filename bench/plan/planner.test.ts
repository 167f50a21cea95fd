import { describe, expect, test } from "bun:test";
import { assumptions } from "./assumptions.ts";
import { evaluateCell } from "./cell.ts";
import { built, type Means, mostConnections, type Plan, placeLogs, planFor, today } from "./planner.ts";
import { sampleCosts } from "./sample-costs.ts";
import { batchesPerSecond, nodesMet } from "./traffic.ts";
import { eventsPerConnection, everydayWorkload, logsOf, organizationSizes } from "./workload.ts";

const target = 0.55;
const seeds = [1, 2, 3];
const small = everydayWorkload("small", 200_000, 4_000);
const large = everydayWorkload("large", 4_000_000, 50_000);
const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);

function planned(workload: typeof small, means: Means, seed = 1): Plan {
  const plan = planFor(workload, sampleCosts, means, target, seed);
  if ("limit" in plan) throw new Error(`no plan: ${plan.limit} ${plan.value}`);
  return plan;
}

describe("organizations", () => {
  test.each(seeds)("share out all connections, most of them to few (seed %d)", (seed) => {
    const sizes = organizationSizes(large, seed);
    expect(sizes).toHaveLength(large.organizations);
    expect(sum(sizes)).toBeCloseTo(large.connections, 0);
    expect(sum(sizes.slice(0, large.organizations / 10))).toBeGreaterThan(large.connections / 2);
    expect([...sizes]).toEqual([...sizes].sort((left, right) => right - left));
  });

  test("are equal for equal seeds, and differ for others", () => {
    expect(organizationSizes(small, 7)).toEqual(organizationSizes(small, 7));
    expect(organizationSizes(small, 7)).not.toEqual(organizationSizes(small, 8));
  });

  test("are split into parts no larger than requested, losing nobody", () => {
    const sizes = organizationSizes(large, 1);
    const logs = logsOf(sizes, 10_000);
    expect(sum(logs.map(({ connections }) => connections))).toBeCloseTo(large.connections, 0);
    expect(Math.max(...logs.map(({ connections }) => connections))).toBeLessThanOrEqual(10_000);
    expect(logs.length).toBeGreaterThan(sizes.length);
  });
});

describe("cells", () => {
  test("hold each log once, and none holds much more than its share", () => {
    const logs = logsOf(organizationSizes(large, 1), 10_000).sort(
      (left, right) => right.connections - left.connections,
    );
    const cells = placeLogs(logs, 37);
    expect(cells.flat()).toHaveLength(logs.length);
    expect(new Set(cells.flat()).size).toBe(logs.length);
    const loads = cells.map((cell) => sum(cell.map(({ connections }) => connections)));
    expect(Math.max(...loads)).toBeLessThan((large.connections / 37) * 1.05);
  });

  test("do the work of all their logs: sends, deliveries, disk and the CPU of a node add up", () => {
    const logs = logsOf(organizationSizes(small, 1), Number.POSITIVE_INFINITY);
    const cell = evaluateCell(logs, small, sampleCosts, today, { nodes: 8, natsServers: 3 });
    expect(cell.sends).toBeCloseTo(small.connections * eventsPerConnection(small), 3);
    expect(cell.deliveries).toBeCloseTo(small.connections * (0.01 * 10 + 0.001 * 30), 3);
    expect(cell.connectionsPerNode * 8).toBeCloseTo(small.connections, 3);
    expect(sum(Object.values(cell.nodeCpuBy))).toBeCloseTo(cell.utilisation.nodeCpu, 9);
    expect(cell.diskBytes).toBeCloseTo(cell.diskBytesPerDay * small.retentionDays, 0);
    expect(cell.natsEvents).toBeCloseTo(cell.sends + cell.hintsPerNode * 8, 3);
    expect(cell.commits).toBeLessThan(cell.sends);
  });

  test("with parts hear as much of one another as the interest says", () => {
    const split = logsOf(Float64Array.of(100_000), 10_000).slice(0, 1);
    const hintsWith = (interest: Means["interest"]) =>
      evaluateCell(split, small, sampleCosts, { ...built, interest }, { nodes: 20, natsServers: 3 });
    const all = hintsWith("organization");
    expect(all.crossing).toBeCloseTo(all.sends * 9, 3);
    expect(all.hintsPerNode * 20).toBeCloseTo(all.sends * 10 * nodesMet(10_000, 2), 3);
    const some = hintsWith("conversation");
    expect(some.crossing).toBeCloseTo(some.sends * 9 * (1 - 0.9 ** 10), 3);
    expect(some.hintsPerNode * 20).toBeCloseTo(some.sends * 10 * nodesMet(1, 2), 3);
  });
});

describe("a plan", () => {
  test.each(seeds)("keeps everything at or below the target, and would not with one node less (seed %d)", (seed) => {
    const plan = planned(large, built, seed);
    expect(Math.max(...Object.values(plan.fullest.utilisation))).toBeLessThanOrEqual(target);
    expect(plan.nodes).toBe(plan.cells * plan.servers.nodes);
    const fewer = (plan.servers.nodes - 1) / plan.servers.nodes;
    expect(plan.fullest.utilisation.nodeCpu / fewer).toBeGreaterThan(target * 0.95);
  });

  test.each(seeds)("of twice the load never has fewer nodes, databases or NATS servers (seed %d)", (seed) => {
    for (let connections = 50_000; connections <= 800_000; connections *= 2) {
      const [once, twice] = [connections, connections * 2].map((count) =>
        planned(everydayWorkload("", count, count / 50), built, seed),
      );
      expect(twice?.nodes).toBeGreaterThanOrEqual(once?.nodes ?? Number.NaN);
      expect(twice?.cells).toBeGreaterThanOrEqual(once?.cells ?? Number.NaN);
      expect(twice?.natsServers).toBeGreaterThanOrEqual(once?.natsServers ?? Number.NaN);
    }
  });

  test("is the same for the same seed", () => {
    expect(planned(small, built, 3)).toEqual(planned(small, built, 3));
  });

  test("with cheaper sends needs fewer nodes", () => {
    const cheaper = { ...sampleCosts, sendCommitCpu: 100, sendEventCpu: 10, hintCpu: 10 };
    const plan = planFor(large, cheaper, built, target, 1);
    expect("nodes" in plan && plan.nodes).toBeLessThan(planned(large, built).nodes);
  });

  test("names a limit that no number of servers can lift", () => {
    const oneGiant = { ...large, organizations: 1 };
    expect(planFor(oneGiant, sampleCosts, { ...built, parts: false }, target, 1)).toHaveProperty("limit", "largestLog");
    expect(planFor(large, sampleCosts, today, target, 1)).toHaveProperty("limit");
    expect(planned(oneGiant, built).largestParts).toBeGreaterThan(1);
  });

  test("of the most that one cell carries fits, and of a tenth more does not", () => {
    const { connections, limit } = mostConnections(large, sampleCosts, built, target, 1);
    const ofSize = (count: number) =>
      planFor(
        { ...large, connections: count, organizations: count / 80 },
        sampleCosts,
        { ...built, manyCells: false },
        target,
        1,
      );
    expect(limit).toBe("databaseDisk");
    expect(ofSize(connections)).toHaveProperty("nodes");
    expect(ofSize(connections * 1.1)).toHaveProperty("limit", "databaseDisk");
    const bytes =
      connections * eventsPerConnection(large) * large.meanByPeak * 86_400 * 30 * sampleCosts.eventBytesPostgres;
    expect(bytes / assumptions.databaseDiskBytes).toBeCloseTo(target, 1);
  });
});

test("there are as many batches as items if those are few, and no more than fit into a second", () => {
  expect(batchesPerSecond(1, 0.002)).toBeCloseTo(1, 2);
  expect(batchesPerSecond(1e6, 0.002)).toBeGreaterThan(499);
  expect(batchesPerSecond(1e6, 0.002)).toBeLessThan(500);
});

test("one connection meets one node, and many meet all", () => {
  expect(nodesMet(1, 20)).toBeCloseTo(1, 9);
  expect(nodesMet(2, 20)).toBeCloseTo(1.95, 9);
  expect(nodesMet(1_000, 20)).toBeCloseTo(20, 9);
});
