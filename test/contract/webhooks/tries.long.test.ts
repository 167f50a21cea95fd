import { describe, expect, test } from "bun:test";
import type { Problem } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { readMetrics, sampleOf } from "../../harness/reading/metrics.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { type Answers, type Hook, type HookDelivery, hooksOf, startReceiver } from "../../harness/servers/receiver.ts";

const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });

async function setUp(answers: Answers) {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice"]);
  const receiver = startReceiver(answers);
  const hooks = hooksOf(org);
  await hooks.toReceiver("push", receiver);
  const send = (body: string) => org.sent("alice", { cid, body });
  return { org, cid, receiver, hooks, send, [Symbol.dispose]: () => receiver[Symbol.dispose]() };
}

const refuse = () => new Response("no", { status: 500 });
const accept = () => new Response("yes");

describe("a post that fails", () => {
  test("is made again after five seconds, with the same id and body and a signature of its own", async () => {
    using context = await setUp((count) => (count === 1 ? refuse() : accept()));
    const { receiver, hooks, send } = context;
    await send("hello");
    const [first] = await receiver.first(1);
    const [waiting] = await hooks.deliveriesWhen("push", ([one]) => one?.tries === 1);
    expect(waiting).toMatchObject({ state: "waiting", last_try: { status: 500, answer: "no" } });
    const at = waiting?.last_try?.at ?? "";
    const hook = async () => (await hooks.call<Hook>("GET", ["push"])).body;
    const failing = { since: at, at, status: 500, error: "the receiver answered 500" };
    expect(await hook()).toMatchObject({ state: "active", failing });
    const [, second] = await receiver.first(2);
    expect(second?.webhook).toEqual(first?.webhook as never);
    const seconds = [first, second].map((one) => Number(one?.headers.get("webhook-timestamp")));
    expect((seconds[1] ?? 0) - (seconds[0] ?? 0)).toBeWithin(4, 60); // the next step is five minutes
    const [done] = await hooks.deliveriesWhen("push", ([one]) => one?.state === "delivered");
    expect(done).toMatchObject({ tries: 2, next_try_at: null, last_try: { status: 200, answer: "yes" } });
    expect((await hook()).failing).toBeNull();
  });

  test("switches its webhook off with 410, until it is put again; then it can be redelivered", async () => {
    using context = await setUp((count) => (count === 1 ? new Response(null, { status: 410 }) : accept()));
    const { receiver, hooks, send } = context;
    await send("first");
    const [failed] = await hooks.deliveriesWhen("push", ([one]) => one?.state === "failed");
    const hook = (await hooks.call<Hook>("GET", ["push"])).body;
    expect([hook.state, hook.disabled_at]).toEqual(["disabled", expect.any(String)]);
    expect(hook.failing).toMatchObject({
      since: failed?.last_try?.at,
      status: 410,
      error: "the receiver answered 410",
    });
    await send("while it is off");
    const redeliver = ["push", "deliveries", failed?.id ?? "", "redeliver"];
    expectProblem(await hooks.call<Problem>("POST", redeliver), 422, "invalid_request");
    const on = await hooks.call<Hook>("PUT", ["push"], { url: receiver.url, wait_seconds: 1 });
    expect([on.status, on.body.state, on.body.failing]).toEqual([200, "active", null]);
    const again = await hooks.call<HookDelivery>("POST", redeliver);
    expect([again.status, again.body.state, again.body.tries]).toEqual([202, "waiting", 0]);
    const [, second] = await receiver.first(2);
    expect(second?.webhook.id).toBe(failed?.id ?? "");
    await send("last");
    const [, , third] = await receiver.first(3);
    expect(third?.webhook).toMatchObject({ data: { message: { body: "last" } } });
    await eventually(async () => {
      const { samples: metrics } = readMetrics((await herald().http("GET", "/metrics")).text); // of one node after another
      const counted = ["herald_webhook_given_up_total", "herald_webhook_disabled_total"];
      return counted.every((name) => (sampleOf(metrics, name) ?? 0) >= 1) || undefined;
    }, "the metrics of the node that gave up");
  });

  test("is cancelled if the message is taken back before it succeeds", async () => {
    using context = await setUp((count) => (count === 1 ? refuse() : accept()));
    const { org, cid, receiver, hooks, send } = context;
    const { server_mid } = await send("secret");
    await receiver.first(1);
    await org.recalled("alice", cid, server_mid);
    const [cancelled] = await hooks.deliveriesWhen("push", ([one]) => one?.state === "cancelled");
    expect(cancelled?.request).toBeNull();
    expect(receiver.received.length).toBe(1);
  });

  test("names nobody who was deleted before it succeeds", async () => {
    using context = await setUp((count) => (count <= 1 ? refuse() : accept()));
    const { org, receiver } = context;
    const cid = await org.conversation(["bob", "carol"]);
    await org.sent("bob", { cid, body: "hello" });
    await receiver.first(1);
    await herald().admin("DELETE", org.path("users", "carol"));
    const [, second] = await receiver.first(2);
    expect(second?.webhook.data).toMatchObject({ unreached: [{ uid: "bob", reason: "offline" }] });
  });
});

/** An answer whose body begins and never ends. */
const endless = (status: number) =>
  new Response(new ReadableStream({ start: (controller) => controller.enqueue("and so") }), { status });

describe("an answer whose body never ends", () => {
  test("counts as delivered with 200", async () => {
    using context = await setUp(() => endless(200));
    await context.send("hello");
    const [done] = await context.hooks.deliveriesWhen("push", ([one]) => one !== undefined && one.tries > 0);
    expect(done).toMatchObject({ state: "delivered", tries: 1, last_try: { status: 200, error: null } });
  });

  test("switches the webhook off with 410", async () => {
    using context = await setUp(() => endless(410));
    await context.send("hello");
    const [failed] = await context.hooks.deliveriesWhen("push", ([one]) => one !== undefined && one.tries > 0);
    expect(failed).toMatchObject({ state: "failed", last_try: { status: 410 } });
    expect((await context.hooks.call<Hook>("GET", ["push"])).body.state).toBe("disabled");
  });
});

test.each([
  ["120", 120],
  [new Date(Date.now() + 3_600_000).toUTCString(), 300],
])("a receiver that answers Retry-After: %s is tried again then, or at the next step", async (after, seconds) => {
  using context = await setUp(() => new Response("later", { status: 503, headers: { "Retry-After": after } }));
  await context.send("hello");
  const [waiting] = await context.hooks.deliveriesWhen("push", ([one]) => one?.tries === 1);
  const { next_try_at, last_try } = waiting ?? {};
  const waitedMs = Date.parse(next_try_at ?? "") - Date.parse(last_try?.at ?? "") - (last_try?.duration_ms ?? 0);
  expect(waitedMs / 1_000).toBeWithin(seconds, seconds * 1.1 + 1);
});

test("a receiver that never answers delays no other, not even of the same organization", async () => {
  using context = await setUp(() => new Promise(() => undefined));
  const { org, receiver, hooks, cid } = context;
  using other = startReceiver();
  await hooks.toReceiver("other", other);
  const bodies = Array.from({ length: 300 }, (_, index) => `${index}`);
  await Promise.all(bodies.map((body) => org.sent("alice", { cid, body })));
  const sentAt = Date.now();
  const received = await other.first(300);
  expect(Date.now() - sentAt).toBeLessThan(12_000); // a post that is not answered takes 15 s
  expect(new Set(received.map(({ webhook }) => webhook.id)).size).toBe(300);
  expect(receiver.received.length).toBeWithin(1, 65);
});
