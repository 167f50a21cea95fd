import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { loadConfig } from "../../../src/config.ts";
import { rawHttp } from "../../harness/clients/raw-http.ts";
import { openSocket } from "../../harness/clients/socket.ts";
import { openSse, requestSse } from "../../harness/clients/sse.ts";
import type { Problem } from "../../harness/clients/wire.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { type Herald, readAnswer, startHerald, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(60_000);

const herald = useHerald({ oneNode: "the origin of its own address is another for each node" });
const app = "https://app.example.org";
const foreign = [
  "https://evil.example",
  "null",
  "http://127.0.0.1:1",
  "https://app.example.org.evil.example",
  "nonsense",
  "file://",
];

const preflightHeaders = (origin: string) => ({
  Origin: origin,
  "Access-Control-Request-Method": "GET",
  "Access-Control-Request-Headers": "authorization",
});

/** The status of an upgrade, and the code of its problem document. */
async function upgrade(server: Herald, headers: Record<string, string>): Promise<string> {
  const { host } = new URL(server.url);
  const lines = Object.entries({
    Host: host,
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  const { hostname, port } = new URL(server.url);
  return await new Promise<string>((resolve, reject) => {
    void Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => void socket.write(`GET /ws HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`),
        data(socket, data) {
          const text = data.toString();
          resolve(`${/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ""}`.trim());
          socket.end();
        },
        close: () => reject(new Error("the connection was closed without an answer")),
      },
    });
  });
}

/** How a page whose origin is refused is told so: a browser does not show it the answer to an upgrade. */
async function closing(server: Herald, headers: Record<string, string>) {
  using socket = await openSocket(server.url, { headers, uid: "alice" });
  return await socket.closed;
}

const forbidden = (origin: string) => ({
  code: 4403,
  reason: expect.stringContaining(`the page's origin ${origin} is not`),
});

async function expectNoCors(server: Herald, origin: string): Promise<void> {
  const organizations = await fetch(`${server.url}/admin/organizations`, {
    method: "OPTIONS",
    headers: { ...preflightHeaders(origin), "Access-Control-Request-Headers": "admin-api-key" },
  });
  expect(organizations.status).toBe(405);
  const list = await server.admin("GET", "/admin/organizations", undefined, { Origin: origin });
  expect(list.status).toBe(200);
  for (const { headers } of [organizations, list])
    expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
}

describe("without HERALD_ALLOWED_ORIGINS", () => {
  test("a page of another origin opens neither a socket nor a stream, whatever its token", async () => {
    const org = await createOrganization(herald());
    const authorization = { Authorization: `Bearer ${await org.token("alice")}` };
    for (const origin of foreign) {
      expect(await closing(herald(), { Origin: origin, ...authorization })).toEqual(forbidden(origin));
      const stream = await requestSse(herald().url, { Origin: origin, ...authorization });
      if ("sse" in stream) throw new Error(`a stream was granted to ${origin}`);
      expectProblem(stream.refused, 403, "origin_forbidden");
      expect(stream.refused.headers.has("access-control-allow-origin")).toBe(false);
      const preflight = await fetch(`${herald().url}/sse`, { method: "OPTIONS", headers: preflightHeaders(origin) });
      expectProblem(await readAnswer<Problem>(preflight), 403, "origin_forbidden");
    }
  });

  test("a page is told to list its origin only if the setting takes it", async () => {
    const told = async (origin: string) => {
      const stream = await requestSse(herald().url, { Origin: origin });
      return "sse" in stream ? "" : stream.refused.body.detail;
    };
    for (const origin of [...foreign, "capacitor://localhost", "app://index.html:8080", "https://[::1]:8443"]) {
      const detail = await told(origin);
      const isRecommended = detail.endsWith("is not in HERALD_ALLOWED_ORIGINS");
      const starts = () => loadConfig({ HERALD_ALLOWED_ORIGINS: origin });
      if (isRecommended) expect(starts().HERALD_ALLOWED_ORIGINS).toEqual([origin]);
      else expect(starts).toThrow("HERALD_ALLOWED_ORIGINS must be");
    }
    expect(await told("null")).toContain("serve it from a web address");
  });

  test("an origin that does not fit into a close reason is left out of it", async () => {
    for (const origin of [`https://${"a".repeat(100)}.example`, "https://é.example"])
      expect(await closing(herald(), { Origin: origin })).toEqual({
        code: 4403,
        reason: "the page's origin is not in HERALD_ALLOWED_ORIGINS",
      });
  });

  test("the server's own pages connect, even behind a TLS proxy, as do clients without an Origin", async () => {
    const org = await createOrganization(herald());
    const { host, port } = new URL(herald().url);
    const own = [{ Origin: `http://${host}` }, { Origin: `https://${host}` }, {}];
    for (const headers of own) expect(await upgrade(herald(), headers)).toBe("101");
    expect(await upgrade(herald(), { Host: "herald.example.org", Origin: "https://herald.example.org" })).toBe("101");
    expect(await upgrade(herald(), { Host: "herald.example.org:443", Origin: "https://herald.example.org" })).toBe(
      "101",
    );
    const another = { Host: `herald.example.org:${port}`, Origin: "https://herald.example.org" };
    expect(await closing(herald(), another)).toEqual(forbidden(another.Origin));
    const token = await org.token("alice");
    using alice = await openSse(herald().url, { Authorization: `Bearer ${token}`, Origin: `http://${host}` }, "alice");
    await org.expectNothingElse(alice);
  });

  test("no response has CORS headers, least of all those of the admin API", () => expectNoCors(herald(), app));
});

describe("with HERALD_ALLOWED_ORIGINS", () => {
  test("pages of those origins connect and may read responses of /sse; others, and the admin API, stay closed to them", async () => {
    await using server = await startHerald({ env: { HERALD_ALLOWED_ORIGINS: `${app}, http://localhost:5173` } });
    const org = await createOrganization(server);
    const token = await org.token("alice");
    for (const origin of [app, "http://localhost:5173"]) {
      using socket = await openSocket(server.url, { headers: { Origin: origin }, uid: "alice" });
      expect((await socket.request("connect", { token })).success).toBe(true);
      using stream = await openSse(server.url, { Origin: origin, Authorization: `Bearer ${token}` }, "alice");
      expect(stream.headers.get("access-control-allow-origin")).toBe(origin);
      expect(stream.headers.get("vary")).toBe("Origin");
      expect(stream.headers.get("access-control-expose-headers")).toContain("Herald-Recovered");
      expect(stream.headers.has("access-control-allow-credentials")).toBe(false);
      const preflight = await fetch(`${server.url}/sse`, { method: "OPTIONS", headers: preflightHeaders(origin) });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
      expect(preflight.headers.get("access-control-allow-methods")).toBe("GET");
      expect(preflight.headers.get("access-control-allow-headers")).toContain("Authorization");
      const refused = await fetch(`${server.url}/sse`, { headers: { Origin: origin } });
      expect(refused.status).toBe(401);
      expect(refused.headers.get("access-control-allow-origin")).toBe(origin);
    }
    for (const origin of [...foreign, "file://"]) {
      expect(await closing(server, { Origin: origin })).toEqual(forbidden(origin));
      const refused = await fetch(`${server.url}/sse`, { headers: { Origin: origin } });
      expect([refused.status, refused.headers.has("access-control-allow-origin")]).toEqual([403, false]);
    }
    expect((await fetch(`${server.url}/sse`, { method: "OPTIONS" })).status).toBe(405);
    await expectNoCors(server, app);
    await server.stop();
  });

  test("pages of apps connect by the origins that browser engines give them: custom schemes, with and without a host, and file://", async () => {
    const apps = ["file://", "capacitor://localhost", "app://", "app://-", "app://index.html:8080"];
    await using server = await startHerald({ env: { HERALD_ALLOWED_ORIGINS: apps.join(",") } });
    for (const origin of apps) {
      expect(await upgrade(server, { Origin: origin })).toBe("101");
      for (const path of ["/sse", "/files/any"]) {
        const preflight = await fetch(server.url + path, { method: "OPTIONS", headers: preflightHeaders(origin) });
        expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
        const refused = await fetch(server.url + path, { headers: { Origin: origin } });
        expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, origin]);
      }
    }
    // Every sandboxed page has it, and not only those of the app.
    expect(await closing(server, { Origin: "null" })).toEqual(forbidden("null"));
    for (const path of ["/sse", "/files/any"]) {
      const { status, headers } = await fetch(server.url + path, {
        method: "OPTIONS",
        headers: preflightHeaders("null"),
      });
      expect([status, headers.has("access-control-allow-origin")]).toEqual([path === "/sse" ? 403 : 405, false]);
    }
    await server.stop();
  });

  test("* lets pages of every origin connect, but still not use the admin API", async () => {
    await using server = await startHerald({ env: { HERALD_ALLOWED_ORIGINS: "*" } });
    for (const origin of [app, ...foreign]) {
      expect(await upgrade(server, { Origin: origin })).toBe("101");
      const preflight = await fetch(`${server.url}/sse`, { method: "OPTIONS", headers: preflightHeaders(origin) });
      expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    }
    await expectNoCors(server, app);
    await server.stop();
  });
});

describe("the response headers for browsers", () => {
  test("pages may load nothing, not be framed, and use only their own styles and script", async () => {
    for (const path of ["/docs", "/docs/api/messages", "/docs/realtime", "/docs/errors"]) {
      const { headers, text } = await herald().http<string>("GET", path);
      const style = /<style>(.*)<\/style>/s.exec(text)?.[1] ?? "";
      const script = /<script>(.*)<\/script>/s.exec(text)?.[1] ?? "";
      const [styleHash, scriptHash] = [style, script].map((part) => createHash("sha256").update(part).digest("base64"));
      expect(headers.get("content-security-policy")?.split("; ")).toEqual([
        "default-src 'none'",
        `script-src 'sha256-${scriptHash}' 'self'`,
        `style-src 'sha256-${styleHash}'`,
        "connect-src 'self'",
        "require-trusted-types-for 'script'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.has("strict-transport-security")).toBe(false);
    }
  });

  test("API responses, good and bad, are not cached, and only interpreted as JSON", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using stream = await org.sse("alice");
    const answers = [
      await org.send("alice", { cid, body: "x" }),
      await herald().admin("GET", org.path()),
      await herald().admin("DELETE", org.path("users", "alice", "sessions")),
      await herald().admin("GET", "/nowhere"),
      await herald().admin("PATCH", org.path()),
      await herald().http("GET", "/admin/organizations"),
      await herald().http("GET", "/ws"),
      await herald().http("GET", "/sse"),
      await herald().http("GET", "/healthz"),
      stream,
    ];
    const told = answers.map(({ headers }) => [headers.get("cache-control"), headers.get("x-content-type-options")]);
    expect(told).toEqual(answers.map(() => ["no-store", "nosniff"]));
    const raw = await rawHttp(herald().url, ["GET /healthz HTTP/1.0\r\n\r\n"]);
    expect(raw.headers.get("x-content-type-options")).toBe("nosniff");
  });
});
