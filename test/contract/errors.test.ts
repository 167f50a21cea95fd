import { describe, expect, test } from "bun:test";
import { expectProblem } from "../harness/reading/expectations.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald();

describe("errors", () => {
  test("carry X-Request-Id like every other response, a different one each time", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const answers = await Promise.all([
      org.send<unknown>("alice", { cid, body: "x" }),
      org.send<unknown>("nobody", { cid, body: "x" }),
      org.sendSystem<unknown>("alice", { uids: ["alice"] }),
      herald().admin("GET", org.path()),
      herald().admin("GET", "/admin/organizations"),
      herald().admin("GET", "/nowhere"),
      herald().admin("GET", "/admin/message"),
      herald().http("POST", "/admin/message", { body: "{" }),
      herald().http("GET", "/healthz"),
      herald().http("GET", "/readyz"),
      herald().http("GET", "/openapi.json"),
      herald().http("GET", "/asyncapi.json"),
      herald().http("GET", "/docs"),
      herald().http("GET", "/sse"),
      herald().admin("DELETE", org.path("conversations", cid)),
    ]);
    const ids = answers.map((answer) => answer.headers.get("x-request-id"));
    for (const [index, id] of ids.entries())
      expect({ index, hasId: (id ?? "") !== "" }).toEqual({ index, hasId: true });
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("for a path that nothing serves are not_found", async () => {
    await createOrganization(herald());
    for (const path of [
      "/nowhere",
      "/admin",
      "/admin/nowhere",
      "/admin/message/nowhere",
      "/admin/organizations/o/nowhere",
      "/admin//message",
      "/ADMIN/message",
      "/admin/message.json",
    ]) {
      expectProblem(await herald().admin("GET", path), 404, "not_found");
    }
    expectProblem(await herald().admin("POST", "/nowhere", {}), 404, "not_found");
  });

  test("for a method that a path does not support are method_not_allowed, with Allow", async () => {
    const org = await createOrganization(herald());
    const wrong: [string, string, string[]][] = [
      ["GET", "/admin/message", ["POST", "PUT", "DELETE"]],
      ["PATCH", "/admin/message", ["POST", "PUT", "DELETE"]],
      ["PUT", "/admin/message/system", ["DELETE", "POST"]],
      ["POST", "/admin/organizations", ["GET"]],
      ["POST", "/admin/nodes", ["GET"]],
      ["DELETE", org.path("online"), ["GET"]],
      ["POST", org.path(), ["GET", "PUT", "DELETE"]],
      ["PATCH", org.path(), ["GET", "PUT", "DELETE"]],
      ["POST", org.path("users", "alice"), ["GET", "PUT", "DELETE"]],
      ["GET", org.path("users", "alice", "tokens"), ["POST"]],
      ["GET", org.path("users", "alice", "sessions"), ["DELETE"]],
      ["POST", org.path("conversations", "c", "participants", "alice"), ["PUT", "DELETE"]],
      ["POST", "/healthz", ["GET"]],
      ["DELETE", "/openapi.json", ["GET"]],
      ["POST", "/ws", ["GET"]],
      ["POST", "/sse", ["GET"]],
    ];
    for (const [method, path, methods] of wrong) {
      const answer = await herald().admin(method, path, method === "GET" || method === "DELETE" ? undefined : {});
      expect({ method, path, status: answer.status }).toEqual({ method, path, status: 405 });
      expectProblem(answer, 405, "method_not_allowed");
      const allowed = (answer.headers.get("allow") ?? "").split(/\s*,\s*/);
      for (const expected of methods) expect(allowed).toContain(expected);
      expect(allowed).not.toContain(method);
    }
  });

  test("for a missing organization are organization_not_found, on every call below it", async () => {
    const path = (rest: string) => `/admin/organizations/nowhere${rest}`;
    const calls: [string, string, unknown?][] = [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/users"],
      ["PUT", "/users/alice", {}],
      ["GET", "/users/alice"],
      ["DELETE", "/users/alice"],
      ["POST", "/users/alice/tokens", {}],
      ["DELETE", "/users/alice/sessions"],
      ["GET", "/conversations"],
      ["GET", "/online"],
      ["GET", "/online?count=true"],
      ["GET", "/online?uids=alice"],
      ["PUT", "/conversations/c", { participants: ["alice"] }],
      ["GET", "/conversations/c"],
      ["DELETE", "/conversations/c"],
      ["GET", "/conversations/c/participants"],
      ["PUT", "/conversations/c/participants/alice"],
      ["DELETE", "/conversations/c/participants/alice"],
      ["GET", "/conversations/c/messages"],
    ];
    for (const [method, rest, body] of calls)
      expectProblem(await herald().admin(method, path(rest), body), 404, "organization_not_found");
  });

  test("for a missing user or conversation say which of them", async () => {
    const org = await createOrganization(herald());
    expectProblem(await herald().admin("GET", org.path("users", "nobody")), 404, "user_not_found");
    expectProblem(await herald().admin("DELETE", org.path("users", "nobody")), 404, "user_not_found");
    expectProblem(await herald().admin("POST", org.path("users", "nobody", "tokens"), {}), 404, "user_not_found");
    expectProblem(await herald().admin("GET", org.path("conversations", "c")), 404, "conversation_not_found");
    expectProblem(await herald().admin("DELETE", org.path("conversations", "c")), 404, "conversation_not_found");
    expectProblem(
      await herald().admin("GET", org.path("conversations", "c", "participants")),
      404,
      "conversation_not_found",
    );
    expectProblem(
      await herald().admin("GET", org.path("conversations", "c", "messages")),
      404,
      "conversation_not_found",
    );
    await org.user("alice");
    expectProblem(
      await herald().admin("PUT", org.path("conversations", "c", "participants", "alice")),
      404,
      "conversation_not_found",
    );
  });

  test("reveal nothing about the server's internals", async () => {
    const org = await createOrganization(herald());
    const answers = [
      await org.send<unknown>("alice", { cid: "c", body: 1 }),
      await herald().http("POST", "/admin/message", { body: "{" }),
      await herald().admin("GET", "/nowhere/%FF"),
    ];
    for (const answer of answers) expect(answer.text).not.toMatch(/node_modules|\.ts:|at \w+ \(|sqlite|SELECT|zod/i);
  });
});

describe("the admin API key", () => {
  test("is required on every call under /admin, before anything else is checked", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const calls: [string, string, string?][] = [
      [
        "POST",
        "/admin/message",
        JSON.stringify({ organizationId: org.id, senderId: "alice", message: { cid, body: "x" } }),
      ],
      ["POST", "/admin/message", "{"],
      ["POST", "/admin/message/system", "{}"],
      ["GET", "/admin/organizations"],
      ["GET", org.path()],
      ["GET", "/admin/organizations/nowhere"],
      ["PUT", org.path("users", "mallory"), "{}"],
      ["POST", org.path("users", "alice", "tokens"), "{}"],
      ["DELETE", org.path()],
    ];
    for (const [method, path, body] of calls) {
      const headers = { "Content-Type": "application/json" };
      expectProblem(
        await herald().http(method, path, { headers, ...(body === undefined ? {} : { body }) }),
        401,
        "unauthorized",
      );
    }
    expect((await herald().admin("GET", org.path())).status).toBe(200);
    expect(await org.history(cid)).toEqual([]);
  });

  test("missing or wrong, gets the same response, apart from request_id", async () => {
    const key = herald().key;
    const wrong = [
      undefined,
      "",
      "x",
      `${key}x`,
      key.slice(0, -1),
      key.toUpperCase(),
      `Bearer ${key}`,
      "hk_0197a1b2_abcdefghijklmnopqrstuvwxyzABCDEF12345678",
      "hk_",
      "x".repeat(300),
      "undefined",
      "null",
    ];
    const bodies = new Set<string>();
    for (const value of wrong) {
      const answer = await herald().http(
        "GET",
        "/admin/organizations",
        value === undefined ? {} : { headers: { "Admin-Api-Key": value } },
      );
      expectProblem(answer, 401, "unauthorized");
      bodies.add(JSON.stringify({ ...answer.body, request_id: "" }));
    }
    expect(bodies.size).toBe(1);
  });

  test("counts only in its own header: not in the URL, as a Bearer token, or as a cookie", async () => {
    const key = herald().key;
    expectProblem(await herald().http("GET", `/admin/organizations?Admin-Api-Key=${key}`), 401, "unauthorized");
    expectProblem(
      await herald().http("GET", "/admin/organizations", { headers: { Authorization: `Bearer ${key}` } }),
      401,
      "unauthorized",
    );
    expectProblem(
      await herald().http("GET", "/admin/organizations", { headers: { Cookie: `Admin-Api-Key=${key}` } }),
      401,
      "unauthorized",
    );
    expect((await herald().http("GET", "/admin/organizations", { headers: { "ADMIN-API-KEY": key } })).status).toBe(
      200,
    );
  });

  test("and user tokens cannot replace each other", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const token = await org.token("alice");
    expectProblem(
      await herald().http("GET", "/admin/organizations", { headers: { "Admin-Api-Key": token } }),
      401,
      "unauthorized",
    );
    expectProblem(
      await herald().http("GET", "/sse", { headers: { Authorization: `Bearer ${herald().key}` } }),
      401,
      "unauthorized",
    );
    expectProblem(
      await herald().http("GET", "/sse", { headers: { "Admin-Api-Key": herald().key } }),
      401,
      "unauthorized",
    );
  });

  test("never appears in the logs, nor do user tokens", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const token = await org.token("alice");
    using alice = await org.socket("alice");
    await alice.expectSilence();
    await herald().http("GET", "/sse", { headers: { Authorization: `Bearer ${token}x` } });
    expect(herald().logs()).not.toContain(herald().key);
    expect(herald().logs()).not.toContain(token);
  });
});
