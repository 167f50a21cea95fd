import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { eventually } from "../../harness/deadline.ts";
import { startCollector } from "../../harness/engines/otlp.ts";
import { useEngines } from "../../harness/engines.ts";
import { type Herald, startHerald, TEST_KEY, TEST_TOKEN_SECRET } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

/** A caller's `traceparent` (W3C Trace Context, section 3.2). */
function callersTrace(isSampled: boolean) {
  const [traceId, spanId] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
  return { traceId, spanId, header: { traceparent: `00-${traceId}-${spanId}-0${Number(isSampled)}` } };
}

const sendWith = (node: Herald, org: string, cid: string, headers: Record<string, string>) =>
  node.admin<{ ask: { server_mid: string } }>(
    "POST",
    "/admin/message",
    { organizationId: org, senderId: "alice", message: { cid, body: "traced" } },
    headers,
  );

describe("traces of one node", () => {
  test("lead from the request through its commit and publication to its play, but not into the frame", async () => {
    await using collector = startCollector();
    await using node = await startHerald({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20collector",
      },
    });
    const org = await createOrganization(node);
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    using _stream = await org.sse("bob");
    const { traceId, spanId, header } = callersTrace(true);
    const answer = await sendWith(node, org.id, cid, { ...header, "X-Request-Id": "traced" });
    expect(answer.status).toBe(201);
    expect(Object.keys((await bob.next()).message ?? {}).sort()).toEqual(
      ["_id", "t", "from", "body", "cid", "x", "attachments", "created_at"].sort(),
    );
    expect(bob.frames.join("")).not.toContain(traceId);

    const spans = await collector.trace(traceId, 4);
    const named = (name: string) => spans.find((span) => span.name === name);
    const [request, commit, publish, play] = ["POST /admin/message", "commit", "publish", "play"].map(named);
    expect(spans).toHaveLength(4);
    expect([request, commit, publish, play].map((span) => span?.parentSpanId)).toEqual([
      spanId,
      request?.spanId,
      commit?.spanId,
      publish?.spanId,
    ]);
    expect(request?.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/admin/message",
      "http.response.status_code": 201,
      "herald.request_id": "traced",
      "herald.key_id": "bootstrap",
      "herald.organization": org.id,
    });
    expect(commit?.attributes).toEqual({ "herald.commit.batch_size": 1 });
    expect(play?.attributes).toMatchObject({
      "herald.event_id": answer.body.ask.server_mid,
      "herald.kind": "message",
      "herald.deliveries": 2,
    });
    expect(collector.headers().get("authorization")).toBe("Bearer collector");
    for (const { startMs, endMs, isError } of spans) {
      expect(endMs).toBeGreaterThanOrEqual(startMs);
      expect(isError).toBe(false);
    }
  });

  test("are made if the caller asks, or for the configured share, and not otherwise", async () => {
    await using collector = startCollector();
    await using node = await startHerald({ env: { HERALD_OTLP_URL: `${collector.url}/` } });
    await using all = await startHerald({ env: { HERALD_OTLP_URL: collector.url, HERALD_TRACE_RATIO: "1" } });
    const [unsampled, asked] = [callersTrace(false), callersTrace(true)];
    for (const headers of [{}, unsampled.header, { traceparent: "nonsense" }, asked.header])
      expect((await node.admin("GET", "/admin/nodes", undefined, headers)).status).toBe(200);
    await collector.trace(asked.traceId, 1);
    expect(collector.spans).toHaveLength(1);
    expect((await all.admin("GET", "/admin/nodes", undefined, unsampled.header)).status).toBe(200);
    expect((await all.admin("GET", "/admin/nodes")).status).toBe(200);
    await eventually(() => collector.spans[1], "a trace that nobody asked for");
    await all.stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(["GET /admin/nodes", "GET /admin/nodes"]);
    expect(collector.spans[1]?.parentSpanId).toBeUndefined();
    expect(collector.spans.map(({ traceId }) => traceId)).not.toContain(unsampled.traceId);
  });

  test("include refusals, and are sent at a stop", async () => {
    await using collector = startCollector();
    await using node = await startHerald({ env: { HERALD_OTLP_URL: collector.url } });
    const org = await createOrganization(node);
    const { traceId, header } = callersTrace(true);
    expect((await sendWith(node, org.id, "no such conversation", header)).status).toBe(404);
    await node.stop();
    const spans = collector.spans.filter((span) => span.traceId === traceId);
    expect(spans.map(({ name }) => name).sort()).toEqual(["POST /admin/message", "commit"]);
  });

  test("that cannot be sent are reported once in the log, and delay nothing", async () => {
    await using collector = startCollector();
    await using node = await startHerald({ env: { HERALD_OTLP_URL: collector.url, HERALD_TRACE_RATIO: "1" } });
    const told = (text: string) => node.logLines().filter(({ msg }) => msg?.includes(text)).length;
    const ask = async () => expect((await node.http("GET", "/readyz")).status).toBe(200);
    collector.break(true);
    await ask();
    await eventually(() => told("cannot send traces") || undefined, "a word on the collector that refuses");
    await ask();
    collector.break(false);
    await eventually(async () => {
      await ask();
      return told("sending traces again") || undefined;
    }, "a word on the collector that takes again");
    expect(told("cannot send traces")).toBe(1);
    await node.stop();
  });
});

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  test("a trace follows its event to each node that plays it", async () => {
    await using collector = startCollector();
    const env = {
      HERALD_DATABASE_URL: await postgres.createDatabase(),
      HERALD_BUS_URL: nats.url,
      HERALD_ADMIN_API_KEY: TEST_KEY,
      HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
      HERALD_OTLP_URL: collector.url,
    };
    await using one = await startHerald({ env: { ...env, HERALD_NODE_NAME: "one" } });
    await using two = await startHerald({ env: { ...env, HERALD_NODE_NAME: "two" } });
    const org = await createOrganization(one);
    const there = await createOrganization(two, org.id);
    const cid = await org.conversation(["alice", "bob"]);
    using alice = await org.socket("alice");
    using bob = await there.socket("bob");
    const { traceId, header } = callersTrace(true);
    expect((await sendWith(one, org.id, cid, header)).status).toBe(201);
    for (const socket of [alice, bob]) expect((await socket.next()).message?.body).toBe("traced");
    expect(alice.frames.join("") + bob.frames.join("")).not.toContain(traceId);

    const spans = await collector.trace(traceId, 5);
    expect(spans.map(({ name, node }) => `${name} on ${node}`).sort()).toEqual([
      "POST /admin/message on one",
      "commit on one",
      "play on one",
      "play on two",
      "publish on one",
    ]);
    const publish = spans.find(({ name }) => name === "publish");
    for (const play of spans.filter(({ name }) => name === "play")) {
      expect(play.parentSpanId).toBe(publish?.spanId ?? "");
      expect(play.attributes["herald.deliveries"]).toBe(1);
    }
  });
}
