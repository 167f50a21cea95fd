import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { openUnreadStream } from "../../harness/clients/unread-stream.ts";
import { acknowledging, counts, nodesKnowEachOther, sendWaiting as send, told } from "../../harness/clients/waiting.ts";
import { eventually, within } from "../../harness/deadline.ts";
import { readMetrics, sampleOf } from "../../harness/reading/metrics.ts";
import { messageBecomes } from "../../harness/reading/reports.ts";
import { startHerald, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const herald = useHerald();
beforeAll(() => nodesKnowEachOther(herald()));

describe("a send with Prefer: wait", () => {
  test("is answered after the time with what is known, and lowers more than 30 seconds to 30", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using bob = await acknowledging(org, "bob");
    using carol = await acknowledging(org, "carol");
    const first = send(org, { cid, body: "x" }, "wait=3");
    const { message } = await bob.next(({ message }) => message !== undefined);
    await bob.request("ack", { ids: [message?._id] });
    expect(told(await first)).toEqual([201, "wait=3", counts(3, 2, 2, 1)]);
    const second = send(org, { cid, body: "y" }, "return=minimal, Wait=100; x=y, wait=1");
    for (const one of [bob, carol]) {
      const { message } = await one.next(({ message }) => message?.body === "y");
      await one.request("ack", { ids: [message?._id] });
    }
    expect(told(await second)).toEqual([201, "wait=30", counts(3, 2, 2, 2)]);
  });

  test("leaves its wait out of the duration of the request", async () => {
    await using own = await startHerald();
    const org = await createOrganization(own);
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await acknowledging(org, "bob");
    expect(told(await send(org, { cid, body: "x" }, "wait=3"))).toEqual([201, "wait=3", counts(2, 1, 1, 0)]);
    expect((await bob.next()).message?.body).toBe("x");
    const { samples } = readMetrics((await own.http<string>("GET", "/metrics")).text);
    const took = "herald_http_request_duration_seconds_sum";
    expect(sampleOf(samples, took, { route: "/admin/message", method: "POST" })).toBeLessThan(2.9);
  });

  test("may take longer than a connection may be idle, and later requests on the connection may not", async () => {
    await using own = await startHerald({ env: { HERALD_LIMIT_IDLE_SECONDS: "10" } });
    const org = await createOrganization(own);
    const cid = await org.conversation(["alice", "bob"]);
    using _bob = await acknowledging(org, "bob");
    const { hostname, port } = new URL(own.url);
    const socket = connect(Number(port), hostname);
    let heard = "";
    socket.on("data", (data) => {
      heard += String(data);
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const body = JSON.stringify({ organizationId: org.id, senderId: "alice", message: { cid, body: "x" } });
    socket.write(
      `POST /admin/message HTTP/1.1\r\nHost: x\r\nAdmin-Api-Key: ${own.key}\r\nContent-Type: application/json\r\nPrefer: wait=18\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually(() => (heard.includes("\r\n\r\n") ? true : undefined), "the answer", 25_000);
    expect(heard).toStartWith("HTTP/1.1 201");
    expect(heard.toLowerCase()).toContain(`herald-delivery: ${counts(2, 1, 1, 0)}`);
    const answeredAt = performance.now();
    await within(closed, "the idle connection to be closed");
    expect(performance.now() - answeredAt).toBeLessThan(16_000);
  });

  test("does not count as delivered what was too much for a connection, which was cut, and neither does the report", async () => {
    await using own = await startHerald({ env: { HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: "1048576" } });
    const org = await createOrganization(own);
    const cid = await org.conversation(["alice", "bob", "slow"]);
    using _bob = await org.socket("bob");
    using _slow = await openUnreadStream(own.url, "/sse", { Authorization: `Bearer ${await org.token("slow")}` });
    await eventually(async () => {
      const answer = await send(org, { cid, body: "x" });
      return answer.headers.get("herald-delivery") === counts(3, 2, 2, 0) ? true : undefined;
    }, "the slow reader to have joined");
    for (;;) {
      const answer = await send(org, { cid, body: "x".repeat(60_000) });
      const delivery = answer.headers.get("herald-delivery");
      if (delivery === counts(3, 2, 2, 0)) continue;
      expect(delivery).toBe(counts(3, 2, 1, 0));
      await messageBecomes(org, answer.body.ask.server_mid, { delivered_users: 1, delivered_connections: 1 });
      break;
    }
    expect(told(await send(org, { cid, body: "x" }))).toEqual([201, "wait=20", counts(3, 1, 1, 0)]);
  });

  test("is answered with what is known when its node stops, and nobody waits from then on", async () => {
    await using own = await startHerald();
    const org = await createOrganization(own);
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using bob = await acknowledging(org, "bob");
    using _carol = await acknowledging(org, "carol");
    const answering = send(org, { cid, body: "x" }, "wait=30");
    const { message } = await bob.next(({ message }) => message !== undefined);
    await bob.request("ack", { ids: [message?._id] });
    const began = performance.now();
    const stopped = own.stop();
    expect(told(await answering)).toEqual([201, "wait=30", counts(3, 2, 2, 1)]);
    expect(performance.now() - began).toBeLessThan(20_000);
    await stopped;
  });
});
