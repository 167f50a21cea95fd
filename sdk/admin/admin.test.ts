import { expect, test } from "bun:test";
import { HeraldApiError } from "../errors.ts";
import { readRetryAfter } from "../waiting/retry.ts";
import { createAdmin } from "./admin.ts";

type Call = { method: string; path: string; key: string | null; prefer: string | null; body: string };

/** A server that gives these answers in order, and what it was asked. */
function startScript(...answers: (Response | "cut")[]) {
  const calls: Call[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      calls.push({
        method: request.method,
        path: pathname + search,
        key: request.headers.get("Admin-Api-Key"),
        prefer: request.headers.get("Prefer"),
        body: await request.text(),
      });
      const answer = answers.shift() ?? new Response(null, { status: 418 });
      if (answer !== "cut") return answer;
      setImmediate(() => void server.stop(true));
      return new Promise<Response>(() => undefined);
    },
  });
  const client = createAdmin({ url: `${server.url.origin}/base/`, key: "the-key", timeoutMs: 2_000 });
  return { client, calls, url: server.url.origin, [Symbol.dispose]: () => void server.stop(true) };
}

const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json(
    {
      type: `/docs/errors#${code}`,
      title: `title of ${code}`,
      status,
      detail: `detail of ${code}`,
      code,
      request_id: "r1",
      errors: [{ pointer: "/message/cid", detail: "is missing" }],
    },
    { status, headers: { "Content-Type": "application/problem+json", "X-Request-Id": "r1", ...headers } },
  );
const ask = { ask: { mid: "m", server_mid: "s", t: 1 } };
const envelope = { organizationId: "o", senderId: "u", message: { cid: "c", body: "hi" } };

test("a read is repeated until it is answered, as it only moves forward; it can be tried", async () => {
  const tried = { dry_run: { recipients: 1, online: 0, unknown_users: [] } };
  using server = startScript(problem(503, "unavailable", { "Retry-After": "0" }), Response.json({ success: true }));
  const read = { organizationId: "o", senderId: "u", messageRead: { cid: "c", ids: ["m"] } };
  expect(await server.client.markRead(read)).toBeUndefined();
  expect(server.calls.map(({ method, path, body }) => [method, path, JSON.parse(body)])).toEqual(
    Array(2).fill(["PUT", "/base/admin/message/read", read]),
  );
  using another = startScript(Response.json(tried));
  expect(await another.client.tryRead(read)).toEqual(tried);
  expect(another.calls[0]?.path).toBe("/base/admin/message/read?dry_run=true");
});

test("a send is repeated with the same id until it is answered", async () => {
  using server = startScript(
    problem(503, "unavailable", { "Retry-After": "0" }),
    problem(500, "internal"),
    Response.json(ask, { status: 201 }),
  );
  expect(await server.client.sendMessage(envelope)).toEqual(ask);
  expect(server.calls).toHaveLength(3);
  expect(new Set(server.calls.map(({ body }) => body)).size).toBe(1);
  const sent = JSON.parse(server.calls[0]?.body ?? "");
  expect(sent.message.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(server.calls[0]).toMatchObject({ method: "POST", path: "/base/admin/message", key: "the-key" });
});

test("the caller's id is kept", async () => {
  using server = startScript(Response.json({ ack: { mid: "mine", t: 1 } }, { status: 201 }));
  await server.client.sendSystemMessage({
    organizationId: "o",
    senderId: "u",
    messageSystem: { id: "mine", uids: ["u"] },
  });
  expect(JSON.parse(server.calls[0]?.body ?? "").messageSystem).toEqual({ id: "mine", uids: ["u"] });
});

test("a send that waits says so, may take as much longer, and tells of the delivery", async () => {
  const told = {
    "Preference-Applied": "wait=5",
    "Herald-Delivery": "recipients=3, online=2, delivered=2, acknowledged=1",
  };
  using server = startScript(
    Response.json(ask, { status: 201, headers: told }),
    Response.json(ask, { status: 201 }),
    Response.json(ask, { status: 201, headers: { "Herald-Delivery": "recipients=3, online=many" } }),
    Response.json(ask, { status: 201 }),
  );
  const delivery = { recipients: 3, online: 2, delivered: 2, acknowledged: 1 };
  expect(await server.client.sendMessage(envelope, { wait: 5 })).toEqual({ ...ask, delivery });
  expect(await server.client.sendMessage(envelope, { wait: 5 })).toEqual(ask);
  expect(await server.client.sendMessage(envelope, { wait: 5 })).toEqual(ask);
  expect(await server.client.sendMessage(envelope)).toEqual(ask);
  expect(server.calls.map(({ prefer }) => prefer)).toEqual(["wait=5", "wait=5", "wait=5", null]);
  for (const wait of [0, -1, 1.5, Number.NaN])
    await expect(server.client.sendMessage(envelope, { wait })).rejects.toThrow("whole number of seconds");
  const slow = createAdmin({
    url: server.url,
    key: "k",
    retries: 0,
    timeoutMs: 200,
    deadlineMs: 200,
    fetch: async (_, { signal }) => {
      await Bun.sleep(400);
      signal?.throwIfAborted();
      return Response.json(ask, { status: 201 });
    },
  });
  expect(await slow.sendMessage(envelope, { wait: 5 })).toEqual(ask);
  await expect(slow.sendMessage(envelope)).rejects.toThrow("timed out after 0.2 s");
});

test("a refusal is not repeated and tells everything", async () => {
  using server = startScript(problem(422, "invalid_request"));
  const error = await server.client.sendMessage(envelope).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HeraldApiError);
  expect(error).toMatchObject({
    status: 422,
    code: "invalid_request",
    title: "title of invalid_request",
    message: "422 invalid_request: title of invalid_request: detail of invalid_request",
    detail: "detail of invalid_request",
    requestId: "r1",
    errors: [{ pointer: "/message/cid", detail: "is missing" }],
  });
  expect(server.calls).toHaveLength(1);
});

test("Retry-After is honoured, unless it asks for too long", async () => {
  using server = startScript(
    problem(429, "rate_limited", { "Retry-After": "1" }),
    Response.json(ask),
    problem(429, "rate_limited", { "Retry-After": "3600" }),
  );
  const startedAt = performance.now();
  await server.client.sendMessage(envelope);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(999);
  await expect(server.client.sendMessage(envelope)).rejects.toMatchObject({ code: "rate_limited" });
  expect(server.calls).toHaveLength(3);
});

test("what is not safe to do twice is repeated after 429 only", async () => {
  using server = startScript(problem(429, "rate_limited"), problem(503, "unavailable"));
  await expect(server.client.request("POST", "/admin/keys", { name: "k" })).rejects.toMatchObject({ status: 503 });
  expect(server.calls).toHaveLength(2);
});

test("a server that is gone is told as unreachable after the retries", async () => {
  using server = startScript("cut");
  const client = createAdmin({ url: server.url, key: "k", retries: 1 });
  await expect(client.sendMessage(envelope)).rejects.toMatchObject({ status: 0, code: "unreachable" });
});

test("a call with its retries ends at its deadline, and tells the error of the system as the cause", async () => {
  using server = startScript(...Array.from({ length: 9 }, () => problem(503, "unavailable", { "Retry-After": "1" })));
  const client = createAdmin({ url: server.url, key: "k", deadlineMs: 1_900 });
  const startedAt = performance.now();
  await expect(client.getUser("o", "u")).rejects.toMatchObject({ code: "unavailable" });
  expect(performance.now() - startedAt).toBeLessThan(6_000); // eight retries would take longer
  expect(server.calls.length).toBeLessThan(3);
  await expect(
    createAdmin({ url: "http://127.0.0.1:1", key: "k", retries: 0 }).getUser("o", "u"),
  ).rejects.toMatchObject({
    detail: "No response from http://127.0.0.1:1: connection refused (ECONNREFUSED)",
    cause: { code: "ECONNREFUSED" },
  });
});

test("the key does not follow a redirect, and a foreign answer is told as such", async () => {
  using elsewhere = startScript();
  using server = startScript(Response.redirect(elsewhere.url, 307), new Response("<h1>hello</h1>"));
  await expect(server.client.getUser("o", "u")).rejects.toMatchObject({ status: 307, code: "not_herald" });
  await expect(server.client.getUser("o", "u")).rejects.toMatchObject({ status: 200, code: "not_herald" });
  expect(elsewhere.calls).toEqual([]);
});

test("a file that is elsewhere is downloaded there, without the key", async () => {
  using elsewhere = startScript(new Response("bytes"));
  using server = startScript(Response.redirect(elsewhere.url, 302), Response.redirect(elsewhere.url, 307));
  expect(await (await server.client.download("f/1")).text()).toBe("bytes");
  expect(elsewhere.calls.map(({ key }) => key)).toEqual([null]);
  expect(server.client.fileUrl("f/1")).toEndWith(server.calls[0]?.path ?? "");
  await expect(server.client.download("f")).rejects.toMatchObject({ status: 307, code: "not_herald" });
});

test("identifiers are percent-encoded and empty answers are fine", async () => {
  using server = startScript(
    new Response(null, { status: 204 }),
    Response.json({ token: "t", expires_at: "e" }, { status: 201 }),
  );
  expect(await server.client.removeParticipant("a/b", "*", "ü ?")).toBeUndefined();
  await server.client.createToken("o", "u", { ttl_seconds: 60 });
  expect(server.calls.map(({ path }) => path)).toEqual([
    "/base/admin/organizations/a%2Fb/conversations/*/participants/%C3%BC%20%3F",
    "/base/admin/organizations/o/users/u/tokens",
  ]);
  await expect(server.client.getUser("..", "u")).rejects.toThrow(TypeError);
});

test("Retry-After may be a date", () => {
  const nowMs = Date.parse("2026-11-20T13:06:00Z");
  expect(readRetryAfter("Fri, 20 Nov 2026 13:06:05 GMT", nowMs)).toBe(5_000);
  expect(readRetryAfter("Fri, 20 Nov 2026 13:05:00 GMT", nowMs)).toBe(0);
  expect([readRetryAfter("7"), readRetryAfter("soon"), readRetryAfter(null)]).toEqual([7_000, undefined, undefined]);
});

test("a key is made and rotated once, whatever the answer: a second time would make another secret", async () => {
  using server = startScript(
    problem(503, "unavailable"),
    problem(500, "internal"),
    new Response(null, { status: 204 }),
  );
  await expect(server.client.createKey({ name: "n", scopes: ["observe"] })).rejects.toMatchObject({ status: 503 });
  await expect(server.client.rotateKey("k/1", { overlap_seconds: 60 })).rejects.toMatchObject({ status: 500 });
  await server.client.revokeKey("k");
  expect(server.calls.map(({ method, path, body }) => [method, path, body])).toEqual([
    ["POST", "/base/admin/keys", '{"name":"n","scopes":["observe"]}'],
    ["POST", "/base/admin/keys/k%2F1/rotate", '{"overlap_seconds":60}'],
    ["DELETE", "/base/admin/keys/k", ""],
  ]);
});

test("a dry run goes to the same address with a query, and gives the send no id", async () => {
  const answer = { dry_run: { recipients: 1, online: 0, unknown_users: [] } };
  using server = startScript(problem(503, "unavailable", { "Retry-After": "0" }), Response.json(answer));
  expect(await server.client.tryMessage(envelope)).toEqual(answer);
  expect(server.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(
    Array(2).fill("POST /base/admin/message?dry_run=true"),
  );
  expect(JSON.parse(server.calls[0]?.body ?? "")).toEqual(envelope);
});

test("an edit and a recall are repeated until they are answered, and can be tried", async () => {
  const edit = { organizationId: "o", senderId: "u", messageEdit: { id: "m", body: "new" } };
  const recall = { organizationId: "o", senderId: "u", messageDelete: { cid: "c", ids: ["m"], type: "all" as const } };
  const tried = { dry_run: { recipients: 3, online: 1, unknown_users: [] } };
  const done = { success: true } as const;
  using server = startScript(
    problem(503, "unavailable", { "Retry-After": "0" }),
    Response.json(done),
    problem(503, "unavailable", { "Retry-After": "0" }),
    Response.json(done),
    Response.json(tried),
    Response.json(tried),
  );
  expect(await server.client.editMessage(edit)).toEqual(done);
  expect(await server.client.recallMessages(recall)).toEqual(done);
  expect(await server.client.tryEdit(edit)).toEqual(tried);
  expect(await server.client.tryRecall(recall)).toEqual(tried);
  expect(server.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    ...Array(2).fill("PUT /base/admin/message"),
    ...Array(2).fill("DELETE /base/admin/message"),
    "PUT /base/admin/message?dry_run=true",
    "DELETE /base/admin/message?dry_run=true",
  ]);
  expect(server.calls.map(({ body }) => JSON.parse(body))).toEqual([edit, edit, recall, recall, edit, recall]);
});

test("a call that is broken off rejects with the reason of the signal, also while it waits to be retried", async () => {
  using server = startScript(problem(503, "unavailable", { "Retry-After": "30" }));
  const over = new AbortController();
  const reason = new Error("the user has left");
  const call = server.client.sendMessage(envelope, { signal: over.signal });
  while (server.calls.length === 0) await new Promise(setImmediate);
  over.abort(reason);
  await expect(call).rejects.toBe(reason);
  await expect(server.client.getUser("o", "u", { signal: over.signal })).rejects.toBe(reason);
  expect(server.calls).toHaveLength(1);
});

test("a node that is not ready says so, and that is no error; metrics may need a token", async () => {
  const health = { status: "unavailable", checks: { store: "Connection closed" } };
  using server = startScript(Response.json(health, { status: 503 }), problem(401, "unauthorized"));
  expect(await server.client.getReadiness()).toEqual(health as Awaited<ReturnType<typeof server.client.getReadiness>>);
  await expect(server.client.getMetrics()).rejects.toMatchObject({ status: 401, code: "unauthorized" });
});

test("the message of an error says what to do where no server can", async () => {
  using server = startScript(new Response("<h1>hello</h1>"));
  await expect(server.client.getUser("o", "u")).rejects.toThrow("Check the address, and what answers there.");
  const nobody = createAdmin({ url: "http://127.0.0.1:1", key: "k", retries: 0 });
  await expect(nobody.getUser("o", "u")).rejects.toThrow(
    "(ECONNREFUSED). Check the address, and that the server runs.",
  );
});

test("where the title says it all, the message has it once", () => {
  const title = "The body is not valid JSON";
  for (const detail of [title, `${title}: line 1`])
    expect(new HeraldApiError({ status: 400, code: "malformed_json", title, detail }).message).toBe(
      `400 malformed_json: ${detail}`,
    );
});

test.each([
  ["an empty page", () => new Response("", { headers: { "Content-Type": "text/html" } })],
  ["JSON with the media type of a page", () => new Response("{}", { headers: { "Content-Type": "text/html" } })],
  ["nothing", () => new Response(null)],
])("%s with 200 is not an answer of Herald", async (_name, answer) => {
  using server = startScript(answer(), answer());
  await expect(server.client.deleteUser("o", "u")).rejects.toMatchObject({ status: 200, code: "not_herald" });
  await expect(server.client.getUser("o", "u")).rejects.toMatchObject({ status: 200, code: "not_herald" });
});
