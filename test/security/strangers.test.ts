import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { eventually, within } from "../harness/deadline.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { readMetrics, sampleOf } from "../harness/reading/metrics.ts";
import { startHerald, useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({ oneNode: "a connection and its metrics are a node's own" });

/** Sends bytes on a connection of their own, and counts the responses until the server closes it. */
async function answersTo(bytes: string): Promise<number> {
  const { hostname, port } = new URL(herald().url);
  const socket = connect(Number(port), hostname, () => socket.write(bytes));
  const closed = Promise.withResolvers<void>();
  let received = "";
  socket.on("data", (data) => {
    received += data.toString("latin1");
  });
  socket.on("error", () => undefined); // `close` follows
  socket.on("close", () => closed.resolve());
  await within(closed.promise, "the server to close the connection");
  return received.split(/^HTTP\/1\.1 /m).length - 1;
}

describe("what anyone may request", () => {
  test("the metrics are printed once a second, however many ask", async () => {
    const scrapes = async () => {
      const { text } = await herald().http<string>("GET", "/metrics");
      return sampleOf(readMetrics(text).samples, "herald_http_requests_total", { route: "/metrics", status: "200" });
    };
    await scrapes();
    await eventually(async () => {
      const [one, , other] = [await scrapes(), await herald().http("HEAD", "/metrics"), await scrapes()];
      return one === other || undefined;
    }, "two scrapes of one second that tell the same");
    const before = (await scrapes()) ?? 0;
    await eventually(async () => ((await scrapes()) ?? 0) > before || undefined, "metrics of a later second");
  });

  test("without a token, the metrics are shown to this machine only, and not through a proxy, even a trusted one", async () => {
    await using behind = await startHerald({ env: { HERALD_TRUSTED_PROXIES: "127.0.0.1", HERALD_HOST: "0.0.0.0" } });
    const here = behind.url.replace("0.0.0.0", "127.0.0.1");
    for (const [name, value] of [
      ["X-Forwarded-For", "203.0.113.9"],
      ["X-Forwarded-For", "127.0.0.1"],
      ["X-Forwarded-For", ""],
      ["Forwarded", "for=203.0.113.9"],
      ["X-Real-IP", "203.0.113.9"],
      ["Via", "1.1 proxy"],
    ] as const) {
      for (const url of [here, herald().url]) {
        const asked = await fetch(`${url}/metrics`, { headers: { [name]: value } });
        const text = await asked.text();
        expect([name, asked.status]).toEqual([name, 404]);
        expect(JSON.parse(text)).toMatchObject({
          code: "not_found",
          detail: expect.stringContaining("HERALD_METRICS_TOKEN"),
        });
        expect(text).not.toContain("herald_");
      }
    }
    expect((await fetch(`${here}/metrics`)).status).toBe(200);
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === "IPv4" && !one.internal);
    if (outside === undefined) return console.log("skipped, since this machine has no address but loopback");
    expect((await fetch(`${here.replace("127.0.0.1", outside.address)}/metrics`)).status).toBe(404);
  });

  test("with a token, the metrics are shown to callers who have it, from anywhere", async () => {
    const token = "metrics-token-0123456789abcdefghij";
    await using node = await startHerald({ env: { HERALD_METRICS_TOKEN: token } });
    const headers = { "X-Forwarded-For": "203.0.113.9" };
    expectProblem(await node.http("GET", "/metrics", { headers }), 401, "unauthorized");
    const told = await node.http("GET", "/metrics", { headers: { ...headers, Authorization: `Bearer ${token}` } });
    expect(told.status).toBe(200);
  });

  test("a connection that pipelines it by the thousand is closed, and delays nobody", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    for (const line of [
      "HEAD /metrics",
      "GET /healthz",
      "GET /readyz",
      "GET /openapi.json",
      "GET /docs",
      "GET /no/such/path",
      "GET /ws",
      "GET /sse",
      "POST /admin/message",
    ]) {
      const request = `${line} HTTP/1.1\r\nHost: herald\r\n\r\n`;
      const flood = answersTo(request.repeat(2_000));
      await org.sent("alice", { cid, body: line });
      expect(await flood, line).toBeLessThanOrEqual(1);
    }
    expect(await answersTo("GET /healthz HTTP/1.1\r\nHost: herald\r\nConnection: close\r\n\r\n")).toBe(1);
  });

  test("as is one that pipelines refused calls, with an accepted key", async () => {
    const request = `GET /admin/organizations?limit=none HTTP/1.1\r\nHost: herald\r\nAdmin-Api-Key: ${herald().key}\r\n\r\n`;
    expect(await answersTo(request.repeat(2_000))).toBeLessThanOrEqual(1);
  });
});
