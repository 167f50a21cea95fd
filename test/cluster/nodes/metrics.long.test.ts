import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import type { Node } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { findPromtool } from "../../harness/engines/promtool.ts";
import { useEngines } from "../../harness/engines.ts";
import { readMetrics, sampleOf } from "../../harness/reading/metrics.ts";
import { type Herald, startHerald, TEST_KEY, TEST_TOKEN_SECRET } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const scrape = async (node: Herald) => (await node.http<string>("GET", "/metrics")).text;
const valueAt = async (node: Herald, name: string, labels?: Record<string, string>) =>
  sampleOf(readMetrics(await scrape(node)).samples, name, labels);

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  const settings = async () => ({
    HERALD_DATABASE_URL: await postgres.createDatabase(),
    HERALD_BUS_URL: nats.url,
    HERALD_ADMIN_API_KEY: TEST_KEY,
    HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
  });

  describe("the metrics of a cluster's nodes", () => {
    test("show how a delivery arrived: own commit, the bus, or the database while the bus is away", async () => {
      const env = await settings();
      await using one = await startHerald({ env: { ...env, HERALD_NODE_NAME: "one" } });
      await using two = await startHerald({ env: { ...env, HERALD_NODE_NAME: "two" } });
      const [org] = [await createOrganization(one)];
      const there = await createOrganization(two, org.id);
      const cid = await org.conversation(["alice", "bob"]);
      using alice = await org.socket("alice");
      using bob = await there.socket("bob");
      const latencies = (node: Herald, via: string) => valueAt(node, "herald_delivery_latency_seconds_count", { via });
      await org.sent("alice", { cid, body: "by the bus" });
      for (const socket of [alice, bob]) expect((await socket.next()).message?.body).toBe("by the bus");
      expect([await latencies(one, "own"), await latencies(one, "bus")]).toEqual([1, 0]);
      expect([await latencies(two, "own"), await latencies(two, "bus")]).toEqual([0, 1]);
      expect(await valueAt(two, "herald_bus_connected")).toBe(1);
      const repairs = (await valueAt(two, "herald_repairs_total")) ?? 0;

      await nats.outage(async () => {
        await org.sent("alice", { cid, body: "by the database" });
        expect((await bob.next()).message?.body).toBe("by the database");
        // What a node shows may be a second old.
        await eventually(async () => (await latencies(two, "store")) === 1 || undefined, "the delivery to be counted");
        expect(await valueAt(two, "herald_repairs_total")).toBeGreaterThan(repairs);
        expect(await valueAt(two, "herald_bus_connected")).toBe(0);
        const told = await eventually(async () => {
          const { items } = (await one.admin<{ items: Node[] }>("GET", "/admin/nodes")).body;
          const figures = items.find(({ name }) => name === "two")?.figures;
          return figures?.bus === "down" && figures.repairs > repairs ? figures : undefined;
        }, "a report that the bus is down, and of a repair");
        expect(told.deliveries).toBe(2);
        const { status, body } = await two.http<{ checks: Record<string, string> }>("GET", "/readyz");
        expect(status).toBe(200);
        expect(body.checks).toMatchObject({ node: "ok", store: "ok", bus: expect.stringMatching(/^reconnecting: /) });
      });
      const isBack = async () => (await valueAt(two, "herald_bus_connected")) === 1 || undefined;
      await eventually(isBack, "the bus to be there again");
    });

    test("of workers that share a port come from one scrape, each with its number, which shows who does not answer", async () => {
      await using herald = await startHerald({ args: ["--workers", "3"], env: await settings() });
      const org = await createOrganization(herald);
      await org.user("alice");
      const text = await scrape(herald);
      const { samples } = readMetrics(text);
      const workers = ["1", "2", "3"];
      const nodes = samples.filter(({ name }) => name === "herald_node_info");
      expect(nodes.map(({ labels }) => labels.worker).sort()).toEqual(workers);
      expect(new Set(nodes.map(({ labels }) => labels.node)).size).toBe(3);
      for (const worker of workers) expect(sampleOf(samples, "herald_worker_up", { worker })).toBe(1);
      const requests = samples.filter(
        ({ name, labels }) => name === "herald_http_requests_total" && labels.method === "PUT",
      );
      expect(requests.reduce((sum, { value }) => sum + value, 0)).toBe(2);
      const linted = findPromtool()?.(["check", "metrics"], text);
      expect(linted?.output).toBe(linted === undefined ? undefined : "");

      const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(herald.pid)], { encoding: "utf8" });
      const frozen = Number(stdout.trim().split("\n")[0]);
      process.kill(frozen, "SIGSTOP");
      // A scrape that reaches the frozen worker itself gets no answer; the next connection may reach another one, whose
      // copy may be a second old.
      const up = await eventually(async () => {
        const answer = await fetch(`${herald.url}/metrics`, {
          headers: { Connection: "close" },
          signal: AbortSignal.timeout(2_500), // a third of the connections reach the frozen one
        }).catch(() => undefined);
        const told = readMetrics((await answer?.text()) ?? "").samples;
        const values = told.filter(({ name }) => name === "herald_worker_up").map(({ value }) => value);
        return values.includes(0) ? values : undefined;
      }, "a scrape of the others after the worker froze").finally(() => process.kill(frozen, "SIGCONT"));
      expect(up.sort()).toEqual([0, 1, 1]);
      await herald.stop();
    });
  });
}
