import { describe, expect, test } from "bun:test";
import { useHerald } from "../harness/servers/herald.ts";

const herald = useHerald();

type OpenApi = {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
};
type AsyncApi = { asyncapi: string; info: { title: string; version: string }; channels: Record<string, unknown> };

describe("open pages", () => {
  test("/healthz and /readyz answer 200 with JSON and their checks, without a key", async () => {
    for (const [path, names] of [
      ["/healthz", ["node", "event_loop"]],
      ["/readyz", ["node", "event_loop", "store"]],
    ] as const) {
      const answer = await herald().http<{ status: string; checks: Record<string, string> }>("GET", path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toMatch(/^application\/json\b/);
      expect(answer.body.status).toBe("ok");
      expect(answer.body.checks).toMatchObject(Object.fromEntries(names.map((name) => [name, expect.any(String)])));
    }
  });

  test("/openapi.json describes the two operations and those around them, without a key", async () => {
    const { status, headers, body } = await herald().http<OpenApi>("GET", "/openapi.json");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/(openapi\+)?json\b/);
    expect(body.openapi).toMatch(/^3\.[01]\./);
    const calls = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path.replace(/\{[^}]*\}/g, "{}")}`),
    );
    const organization = "/admin/organizations/{}";
    for (const call of [
      "post /admin/message",
      "post /admin/message/system",
      "get /admin/organizations",
      ...["get", "put", "delete"].flatMap((method) =>
        ["", "/users/{}", "/conversations/{}"].map((rest) => `${method} ${organization}${rest}`),
      ),
      "get /admin/nodes",
      `get ${organization}/online`,
      `get ${organization}/events`,
      `get ${organization}/users`,
      `get ${organization}/conversations`,
      `post ${organization}/users/{}/tokens`,
      `delete ${organization}/users/{}/sessions`,
      `get ${organization}/conversations/{}/participants`,
      `put ${organization}/conversations/{}/participants/{}`,
      `delete ${organization}/conversations/{}/participants/{}`,
      `get ${organization}/conversations/{}/messages`,
    ]) {
      expect(calls).toContain(call);
    }
    expect(Object.keys(body.paths["/admin/message"]?.post?.responses ?? {})).toEqual(
      expect.arrayContaining(["201", "401", "403", "404", "409", "422"]),
    );
    expect(unresolved(body)).toEqual([]);
  });

  test("/asyncapi.json describes the real-time side, without a key", async () => {
    const { status, body } = await herald().http<AsyncApi>("GET", "/asyncapi.json");
    expect(status).toBe(200);
    expect(body.asyncapi).toMatch(/^3\./);
    expect(JSON.stringify(body)).toContain("system_message");
    expect(JSON.stringify(body)).toContain("/ws");
    expect(unresolved(body)).toEqual([]);
  });

  test("/docs is a page for people, which loads nothing from elsewhere", async () => {
    const answer = await herald().http<string>("GET", "/docs");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^text\/html\b/);
    expect(answer.text).toContain("/admin/message");
    expect(answer.text).not.toMatch(/(src|href)=["']https?:\/\/(?!127\.0\.0\.1|localhost)[^"']*\.(js|css)/i);
  });

  test("/docs/errors, to which the type of every problem points, names every code", async () => {
    const answer = await herald().http<string>("GET", "/docs/errors");
    expect(answer.status).toBe(200);
    for (const code of [
      "malformed_json",
      "unauthorized",
      "sender_not_participant",
      "message_id_conflict",
      "payload_too_large",
      "invalid_request",
      "rate_limited",
      "internal",
    ]) {
      expect(answer.text).toContain(`id="${code}"`);
    }
  });
});

/** The `$ref`s of a document that lead nowhere. */
function unresolved(document: object): string[] {
  const missing: string[] = [];
  const resolve = (pointer: string) =>
    pointer
      .slice(2)
      .split("/")
      .reduce<unknown>(
        (node, part) =>
          (node as Record<string, unknown> | undefined)?.[part.replaceAll("~1", "/").replaceAll("~0", "~")],
        document,
      );
  JSON.stringify(document, (key, value: unknown) => {
    if (key === "$ref" && typeof value === "string" && value.startsWith("#/") && resolve(value) === undefined)
      missing.push(value);
    return value;
  });
  return missing;
}
