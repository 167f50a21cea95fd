import { describe, expect, test } from "bun:test";
import { metricCatalogue } from "../../src/contract/metrics.ts";
import { rawHttp } from "../harness/clients/raw-http.ts";
import { eventually } from "../harness/deadline.ts";
import { findPromtool } from "../harness/engines/promtool.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { readMetrics, sampleOf } from "../harness/reading/metrics.ts";
import { filesOf } from "../harness/servers/files.ts";
import { type Herald, startHerald, useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({ oneNode: "each node tells its own metrics" });

async function scrape(node: Herald = herald()) {
  const answer = await node.http<string>("GET", "/metrics");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return { text: answer.text, ...readMetrics(answer.text) };
}

const promtool = findPromtool();

describe("/metrics", () => {
  test("counts sends by their result, deliveries with their latency, commits and connections", async () => {
    await using node = await startHerald();
    const org = await createOrganization(node);
    const cid = await org.conversation(["alice", "bob"]);
    using _alice = await org.socket("alice");
    using bob = await org.sse("bob");
    for (const body of ["one", "two"]) await org.sent("alice", { cid, body, id: body });
    await org.sent("alice", { cid, body: "two", id: "two" });
    expect((await org.send("carol", { cid, body: "not in there" })).status).toBe(403);
    expect((await org.send("alice", { cid })).status).toBe(422);
    await org.sentSystem("alice", { uids: ["bob"] });
    for (let event = 0; event < 3; event++) await bob.next();

    const { samples } = await scrape(node);
    const value = (name: string, labels?: Record<string, string>) => sampleOf(samples, name, labels);
    const sends = (operation: string, result: string) => value("herald_sends_total", { operation, result });
    expect([sends("message", "stored"), sends("message", "replayed"), sends("message", "refused")]).toEqual([2, 1, 2]);
    expect([sends("message", "failed"), sends("system_message", "stored")]).toEqual([0, 1]);
    expect(value("herald_deliveries_total", { kind: "message" })).toBe(4);
    expect(value("herald_deliveries_total", { kind: "system_message" })).toBe(1);
    expect(value("herald_delivery_latency_seconds_count", { via: "own" })).toBe(5);
    expect(value("herald_delivery_latency_seconds_sum", { via: "own" })).toBeWithin(0.0005, 25);
    expect(value("herald_delivery_latency_seconds_bucket", { via: "own", le: "+Inf" })).toBe(5);
    expect(value("herald_commit_batch_size_sum")).toBe(5); // sends refused there are part of a commit
    expect(value("herald_commit_duration_seconds_count")).toBe(5);
    expect(value("herald_connections", { transport: "websocket" })).toBe(1);
    expect(value("herald_connections", { transport: "sse" })).toBe(1);
    expect(value("herald_organizations")).toBe(1);
    expect(value("herald_repairs_total")).toBe(0);
    const requests = (route: string, method: string, status: string) =>
      value("herald_http_requests_total", { route, method, status });
    expect(requests("/admin/message", "POST", "201")).toBe(3);
    expect(requests("/admin/message", "POST", "422")).toBe(1);
    expect(requests("/ws", "GET", "101")).toBe(1);
    expect(requests("/sse", "GET", "200")).toBe(1);
  });

  test("counts under few names what callers make up: paths, methods, ids", async () => {
    const org = await createOrganization(herald());
    await herald().http("GET", "/no/such/path");
    await rawHttp(herald().url, ["PROPFIND /coffee HTTP/1.1\r\nHost: herald\r\nConnection: close\r\n\r\n"]);
    await org.user("a user whom nobody should find in a metric");
    const { text, samples } = await scrape();
    for (const made of [org.id, "no/such", "PROPFIND", "a user whom"]) expect(text).not.toContain(made);
    const requests = (route: string, method: string, status: string) =>
      sampleOf(samples, "herald_http_requests_total", { route, method, status });
    expect(requests("unmatched", "GET", "404")).toBe(1);
    expect(requests("unmatched", "_OTHER", "404")).toBe(1);
    expect(requests("/admin/organizations/{org}/users/{uid}", "PUT", "201")).toBe(1);
  });

  test("counts uploads of files by how they ended, with their bytes and their time", async () => {
    await using node = await startHerald({ env: { HERALD_LIMIT_FILE_BYTES: "1000" } });
    const files = filesOf(await createOrganization(node));
    const { file_id } = await files.uploaded("a", "a".repeat(600));
    expect((await files.put(file_id, "b".repeat(300))).status).toBe(200);
    expect((await files.upload("large", "c".repeat(1_001))).status).toBe(413);
    expect((await files.put("missing", "d")).status).toBe(404);
    const { samples } = await scrape(node);
    const value = (name: string, labels?: Record<string, string>) => sampleOf(samples, name, labels);
    const uploads = ["stored", "refused", "failed"].map((result) => value("herald_file_uploads_total", { result }));
    expect(uploads).toEqual([2, 1, 0]); // what is refused before the bytes are wanted is a request like any other
    expect(value("herald_file_stored_bytes_total")).toBe(900);
    expect(value("herald_file_upload_duration_seconds_count")).toBe(2);
    expect(value("herald_file_store_failures_total", { operation: "write" })).toBe(0);
  });

  test("shows the system's figures of the process", async () => {
    const { samples } = await scrape();
    const status = await Bun.file(`/proc/${herald().pid}/status`).text();
    const resident = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
    const told = sampleOf(samples, "process_resident_memory_bytes") ?? 0;
    expect(Math.abs(told / resident - 1)).toBeLessThan(0.5);
    expect(sampleOf(samples, "process_heap_used_bytes")).toBeLessThan(told);
    expect(sampleOf(samples, "process_cpu_seconds_total")).toBeWithin(0.05, 60);
    expect(sampleOf(samples, "process_open_fds")).toBeWithin(6, 1_000);
    const startedAt = sampleOf(samples, "process_start_time_seconds") ?? 0;
    expect(Math.abs(startedAt - Date.now() / 1000)).toBeLessThan(600);
    await eventually(
      async () => (sampleOf((await scrape()).samples, "herald_event_loop_delay_seconds_count") ?? 0) > 5 || undefined,
      "looks at the event loop",
    );
  });

  test("has every metric of the catalogue with its type, and no others", async () => {
    const { types } = await scrape();
    // Only with several workers, and with an outbox: test/outbox.
    const others = /^herald_(worker_up|outbox_)/;
    const catalogue = Object.entries(metricCatalogue).filter(([name]) => !others.test(name));
    expect([...types]).toEqual(catalogue.map(([name, { type }]) => [name, type]));
  });

  test.skipIf(promtool === undefined)("passes the linter of Prometheus", async () => {
    const { text } = await scrape();
    expect(promtool?.(["check", "metrics"], text)).toEqual({ isContent: true, output: "" });
  });

  test("is open, except on a server with a token, which shows it only to callers with that", async () => {
    const token = "metrics-token-0123456789abcdefghij";
    await using node = await startHerald({ env: { HERALD_METRICS_TOKEN: token } });
    const ask = (headers: Record<string, string>) => node.http("GET", "/metrics", { headers });
    expect((await ask({ Authorization: `Bearer ${token}` })).status).toBe(200);
    for (const headers of [
      {},
      { Authorization: token },
      { Authorization: `Bearer ${token}x` },
      { Authorization: "Bearer " },
      { "Admin-Api-Key": node.key },
    ]) {
      const refused = await ask(headers);
      expectProblem(refused, 401, "unauthorized");
      expect(refused.headers.get("www-authenticate")).toBe("Bearer");
      expect(refused.text).not.toContain(token);
    }
    expectProblem(
      await node.http("GET", "/metrics?token=x", { headers: { Authorization: `Bearer ${token}` } }),
      422,
      "invalid_request",
      "/token",
    );
  });
});
