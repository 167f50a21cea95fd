import { randomBytes } from "node:crypto";
import { createApiKey } from "../../../src/contract/keys/api-key.ts";
import { handshake } from "../../harness/clients/handshake.ts";
import type { Attack } from "../attack.ts";
import { besideVictim, fill, keepOpen } from "../clients/connections.ts";
import { askWithoutEnd, requestOf, statusOf } from "../clients/pipeline.ts";
import type { Tally } from "../clients/tally.ts";

const pipelined = { connections: 50, window: 16 };
/** One request at a time, for routes where the server closes connections that send another during a request. */
const queued = { connections: 400, window: 1 };
const headBytes = 15_000;

/** Calls one route repeatedly without a key or a token. */
function anonymous(name: string, method: string, path: () => string, pattern = pipelined): Attack {
  const target = path().split("/").slice(0, 2).join("/");
  return {
    name,
    row: 1,
    who: `anyone: \`${method} ${target}\` on ${pattern.connections} connections${pattern.window > 1 ? ", pipelined" : ""}`,
    run: ({ url }, tally) => askWithoutEnd({ url, tally, ...pattern, request: () => requestOf(url, method, path()) }),
  };
}

const signed = (header: object, claims: object) =>
  [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");

/** A token in which everything is right except its signature. */
function badToken(): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { sub: "member-0", org: "attacker", aud: "herald", iat: now, exp: now + 600 };
  return `${signed({ alg: "HS256", typ: "JWT" }, claims)}.${randomBytes(32).toString("base64url")}`;
}

type Endless = { url: string; tally: Tally; connections: number; method: string; path: string; key?: string };

/** Sends bodies that do not end, whatever is answered, until the connection is closed. */
function neverEnd({ url, tally, connections, method, path, key }: Endless): void {
  const lines = ["Transfer-Encoding: chunked", "Content-Type: application/json"];
  const hello = requestOf(url, method, path, { lines, ...(key !== undefined && { key }) });
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  keepOpen({
    url,
    tally,
    count: connections,
    talk: () => ({
      hello,
      hear(bytes) {
        const status = statusOf(bytes);
        if (status !== undefined) tally.count(`HTTP ${status}`);
      },
      onDrain: (line) => fill(line, () => chunk),
    }),
  });
}

/** Attacks over HTTP by attackers who have nothing. */
export const anonymousAttacks: readonly Attack[] = [
  anonymous("metrics", "HEAD", () => "/metrics"),
  anonymous("openapi", "GET", () => "/openapi.json"),
  anonymous("pages", "GET", () => "/docs"),
  anonymous("console", "GET", () => "/console"),
  anonymous("ready", "GET", () => "/readyz", queued),
  anonymous("nowhere", "GET", () => `/nowhere/${randomBytes(8).toString("hex")}`),
  {
    name: "bad-keys",
    row: 6,
    who: "anyone: unknown keys, on 400 connections",
    run: ({ url }, tally) =>
      askWithoutEnd({
        url,
        tally,
        ...queued,
        request: () => requestOf(url, "POST", "/admin/message", { key: createApiKey().key, body: {} }),
      }),
  },
  {
    name: "bad-tokens",
    row: 6,
    mustBeTold: true,
    who: "anyone at the victim's address: tokens with a wrong signature, on 100 connections",
    run: ({ url }, tally) =>
      askWithoutEnd({
        url,
        tally,
        connections: 100,
        window: 1, // a refusal ends the connection
        returnMs: 1,
        from: besideVictim,
        request: () => requestOf(url, "GET", "/sse", { lines: [`Authorization: Bearer ${badToken()}`] }),
      }),
  },
  {
    name: "big-heads",
    who: "anyone: request heads of 15 kB, on 50 connections, pipelined",
    run({ url }, tally) {
      const request = requestOf(url, "GET", "/healthz", { lines: [`X-Long: ${"x".repeat(headBytes)}`] });
      askWithoutEnd({ url, tally, ...pipelined, request: () => request });
    },
  },
  {
    name: "slow-bodies",
    who: "anyone: 900 trickling bodies of 1 MB, and 2,000 incomplete handshakes",
    run({ url }, tally) {
      const { host } = new URL(url);
      const half = `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
      const upload = `POST /admin/message HTTP/1.1\r\nHost: ${host}\r\nAdmin-Api-Key: hk_wrong\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`;
      keepOpen({ url, tally, count: 2_900, talk: (index) => ({ hello: index < 900 ? upload : half }) });
    },
  },
  {
    name: "endless-bodies",
    row: 1,
    who: "anyone: `POST /admin/message/batch` with a body without an end, on 50 connections",
    run: ({ url }, tally) => neverEnd({ url, tally, connections: 50, method: "POST", path: "/admin/message/batch" }),
  },
  {
    name: "endless-bad-keys",
    row: 6,
    who: "anyone: an unknown key, and a body without an end, on 50 connections",
    run: ({ url }, tally) =>
      neverEnd({ url, tally, connections: 50, method: "POST", path: "/admin/message", key: createApiKey().key }),
  },
  {
    name: "endless-gets",
    row: 1,
    who: "anyone: `GET /healthz` with a body without an end, on 50 connections",
    run: ({ url }, tally) => neverEnd({ url, tally, connections: 50, method: "GET", path: "/healthz" }),
  },
  {
    name: "endless-sends",
    row: 1,
    who: "key with `message:send`: `POST /admin/message` with a body without an end, on 20 connections",
    run: ({ url, key }, tally) =>
      neverEnd({ url, tally, connections: 20, method: "POST", path: "/admin/message", key }),
  },
  {
    name: "silent",
    who: "anyone: 5,000 silent connections",
    run: ({ url }, tally) => keepOpen({ url, tally, count: 5_000, talk: () => ({ hello: "" }) }),
  },
  {
    name: "upgrades",
    row: 9,
    who: "anyone: 100 connections that upgrade to WebSockets and hang up, again and again",
    run({ url }, tally) {
      const { host } = new URL(url);
      keepOpen({
        url,
        tally,
        count: 100,
        returnMs: 0,
        talk: () => ({
          hello: handshake(host, "/ws", []),
          hear(chunk, line) {
            const status = statusOf(chunk);
            if (status === undefined) return;
            tally.count(`HTTP ${status}`);
            line.leave();
          },
        }),
      });
    },
  },
];
