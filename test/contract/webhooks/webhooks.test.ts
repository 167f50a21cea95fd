import { describe, expect, test } from "bun:test";
import { hostname } from "node:os";
import { Webhook as Reference } from "standardwebhooks";
import type { Page, Problem } from "../../harness/clients/wire.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { type Hook, type HookDelivery, hooksOf, startReceiver } from "../../harness/servers/receiver.ts";

const strict = useHerald();
const herald = useHerald({ env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" } });

const url = "https://push.example.org/herald";

async function setUp(node = herald()) {
  const org = await createOrganization(node);
  return { org, ...hooksOf(org) };
}

describe("a webhook", () => {
  test("is created with a secret that is shown once, changed, read, listed and deleted", async () => {
    const { call } = await setUp();
    const created = await call<Hook>("PUT", ["push"], { url });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: "push",
      url,
      events: ["message.unreached", "system_message.unreached"],
      wait_seconds: 10,
      until: "delivered",
      state: "active",
      created_at: expect.stringMatching(ISO_MILLISECONDS),
      disabled_at: null,
      failing: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret: _, ...shown } = created.body;
    const change = { url, events: ["message.unreached"], wait_seconds: 86_400, until: "acknowledged" };
    const changed = await call<Hook>("PUT", ["push"], change);
    expect([changed.status, changed.body]).toEqual([200, { ...shown, ...change }]);
    expect((await call<Hook>("GET", ["push"])).body).toEqual(changed.body);
    const other = (await call<Hook>("PUT", ["a/b"], { url, events: ["message.unreached", "message.unreached"] })).body;
    expect(other.events).toEqual(["message.unreached"]);
    const list = await call<Page<Hook>>("GET", []);
    expect(list.body.items.map(({ id }) => id)).toEqual(["a/b", "push"]);
    expect(list.text).not.toContain("secret");
    expect((await call("DELETE", ["push"])).status).toBe(204);
    expectProblem(await call<Problem>("GET", ["push"]), 404, "not_found");
  });

  test("that exists 20 times refuses another one, and lists are paged", async () => {
    const { org, call } = await setUp();
    for (let index = 0; index < 20; index++)
      expect((await call("PUT", [`hook-${String(index).padStart(2, "0")}`], { url })).status).toBe(201);
    expectProblem(await call<Problem>("PUT", ["more"], { url }), 422, "invalid_request");
    expect((await call("PUT", ["hook-00"], { url })).status).toBe(200);
    const page = await org.herald.admin<Page<Hook>>("GET", `${org.path("webhooks")}?limit=15`);
    const rest = `${org.path("webhooks")}?limit=15&cursor=${page.body.cursor}`;
    const last = await org.herald.admin<Page<Hook>>("GET", rest);
    expect([page.body.items.length, last.body.items.length, last.body.cursor]).toEqual([15, 5, null]);
  });

  test.each([
    { url: "http://push.example.org/" },
    { url: "ftp://push.example.org/" },
    { url: "push.example.org" },
    { url: "https://user:password@push.example.org/" },
    { url: "https://localhost/" },
    { url: "https://127.0.0.1:8443/" },
    { url: "https://10.0.0.1/" },
    { url: "https://169.254.169.254/latest/meta-data/" },
    { url: "https://[::1]/" },
    { url: "https://[::ffff:10.0.0.1]/" },
    { url: "https://0x7f000001/" },
    { url: `https://push.example.org/${"x".repeat(2_048)}` },
    { url, wait_seconds: 0 },
    { url, wait_seconds: 86_401 },
    { url, wait_seconds: 1.5 },
    { url, events: [] },
    { url, events: ["message.sent"] },
    { url, until: "read" },
    { url, secret: "whsec_mine" },
    {},
  ])("is refused with %j", async (body) => {
    const { call } = await setUp(strict());
    const answer = await call<Problem>("PUT", ["push"], body);
    expectProblem(answer, 422, "invalid_request");
    expect(answer.body.errors?.length).toBeGreaterThan(0);
  });

  test("may lead anywhere by http if the operator allows private addresses", async () => {
    const { call } = await setUp();
    expect((await call("PUT", ["push"], { url: "http://127.0.0.1:9/" })).status).toBe(201);
  });

  test("is not there for organizations, webhooks and deliveries that are not", async () => {
    const { org, call } = await setUp();
    const nowhere = hooksOf({ ...org, path: (...more) => `/admin/organizations/none/${more.join("/")}` });
    for (const [method, ...segments] of [
      ["GET"],
      ["GET", "x"],
      ["DELETE", "x"],
      ["POST", "x", "rotate"],
      ["POST", "x", "test"],
    ])
      expectProblem(await nowhere.call<Problem>(method ?? "", segments), 404, "organization_not_found");
    expectProblem(await nowhere.call<Problem>("PUT", ["x"], { url }), 404, "organization_not_found");
    for (const segments of [
      ["x", "rotate"],
      ["x", "test"],
      ["x", "deliveries", "d", "redeliver"],
    ])
      expectProblem(await call<Problem>("POST", segments), 404, "not_found");
    expectProblem(await call<Problem>("GET", ["x", "deliveries"]), 404, "not_found");
    await call("PUT", ["push"], { url });
    expectProblem(await call<Problem>("POST", ["push", "deliveries", "d", "redeliver"]), 404, "not_found");
  });

  test("needs the scope `webhooks:manage`", async () => {
    const { org, call } = await setUp();
    const { key } = await createKey(org.herald, { organization: org.id, scopes: ["webhooks:manage"] });
    const { key: other } = await createKey(org.herald, { organization: org.id, scopes: ["message:send", "observe"] });
    expect((await call("PUT", ["push"], { url }, key)).status).toBe(201);
    expectProblem(await call<Problem>("PUT", ["push"], { url }, other), 403, "insufficient_scope");
    expectProblem(await call<Problem>("GET", ["push", "deliveries"], undefined, other), 403, "insufficient_scope");
  });
});

describe("a test of a webhook", () => {
  test("is posted at once, signed as the reference implementation and the SDK verify it", async () => {
    using receiver = startReceiver(() => new Response("thank you", { status: 200 }));
    const { org, call, toReceiver, deliveries } = await setUp();
    const { secret = "" } = await toReceiver("push", receiver);
    const test = await call<HookDelivery>("POST", ["push", "test"]);
    expect(test.body).toMatchObject({
      state: "delivered",
      tries: 1,
      next_try_at: null,
      last_try: { status: 200, error: null, answer: "thank you" },
      request: { type: "webhook.test", data: { organizationId: org.id, webhook: "push" } },
    });
    const [received] = await receiver.first(1);
    expect(received?.webhook).toEqual({ id: test.body.id, ...test.body.request } as never);
    expect(received?.headers.get("content-type")).toBe("application/json");
    const { id, ...body } = received?.webhook ?? { id: "" };
    const headers = Object.fromEntries(received?.headers ?? []);
    expect(new Reference(secret).verify(JSON.stringify(body), headers)).toEqual(body);
    expect((await deliveries("push")).map((delivery) => delivery.id)).toEqual([id]);
    expectProblem(await call<Problem>("POST", ["push", "deliveries", id, "redeliver"]), 422, "invalid_request");
  });

  test("says why it failed", async () => {
    using receiver = startReceiver((count) =>
      count === 1
        ? new Response("\u0000not now", { status: 503 })
        : new Response(null, { status: 302, headers: { Location: "/elsewhere" } }),
    );
    const { call, toReceiver, deliveries } = await setUp();
    await toReceiver("push", receiver);
    const post = async () => (await call<HookDelivery>("POST", ["push", "test"])).body;
    const error = "the receiver answered 503";
    expect(await post()).toMatchObject({ state: "failed", last_try: { status: 503, error, answer: "\ufffdnot now" } });
    const redirect = "the receiver answered 302; redirects are not followed";
    expect(await post()).toMatchObject({ state: "failed", last_try: { status: 302, error: redirect } });
    receiver[Symbol.dispose]();
    expect(await post()).toMatchObject({ state: "failed", last_try: { status: null, answer: null } });
    expect(receiver.received.length).toBe(2);
    expect((await deliveries("push", "failed")).length).toBe(3);
    expect(await deliveries("push", "delivered")).toEqual([]);
  });

  test("that fails makes the webhook fail, since the first failure and because of the last, until one is delivered", async () => {
    const statuses = [204, 500, 503, 204];
    using receiver = startReceiver((count) => new Response(null, { status: statuses[count - 1] ?? 500 }));
    const { call, toReceiver } = await setUp();
    const { failing } = await toReceiver("push", receiver);
    expect(failing).toBeNull();
    const post = async () => {
      const { last_try } = (await call<HookDelivery>("POST", ["push", "test"])).body;
      const { body } = await call<Hook>("GET", ["push"]);
      expect((await call<Page<Hook>>("GET", [])).body.items).toEqual([body]);
      return { at: last_try?.at, state: body.state, failing: body.failing };
    };
    expect(await post()).toMatchObject({ state: "active", failing: null });
    const first = await post();
    const { at: since = "" } = first;
    expect(first.failing).toEqual({ since, at: since, status: 500, error: "the receiver answered 500" });
    const second = await post();
    expect(second).toMatchObject({ state: "active", failing: { since, at: second.at, status: 503 } });
    expect((await call<Hook>("PUT", ["push"], { url: receiver.url })).body.failing).toEqual(second.failing);
    expect(await post()).toMatchObject({ state: "active", failing: null });
  });

  test("goes nowhere if the name leads to a private address", async () => {
    const { call } = await setUp(strict());
    // The machine's own name, which resolves to an address of its own network on every machine that runs this.
    await call("PUT", ["push"], { url: `https://${hostname()}/` });
    const test = await call<HookDelivery>("POST", ["push", "test"]);
    const error = expect.stringContaining("which is not a public address");
    expect(test.body).toMatchObject({ state: "failed", last_try: { status: null, error } });
  });
});

test("after a rotation, posts are signed with the old secret and the new one", async () => {
  using receiver = startReceiver();
  const { call, toReceiver } = await setUp();
  const { secret: old = "" } = await toReceiver("push", receiver);
  const rotated = await call<Hook>("POST", ["push", "rotate"]);
  const { secret: fresh = "" } = rotated.body;
  expect([rotated.status, fresh === old]).toEqual([200, false]);
  await call("POST", ["push", "test"]);
  receiver.secrets.splice(0, 1, fresh);
  await call("POST", ["push", "test"]);
  const [first] = await receiver.first(2);
  expect(first?.headers.get("webhook-signature")?.split(" ").length).toBe(2);
  expect(receiver.faults()).toBe(0);
});
