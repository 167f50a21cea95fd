import { describe, expect, test } from "bun:test";
import { defaultPayloadLimits } from "../../../src/contract/limits.ts";
import { createOperations } from "../../../src/contract/operations/all.ts";
import type { Operation } from "../../../src/contract/operations/operation.ts";
import { type RawAnswer, rawHttp } from "../../harness/clients/raw-http.ts";
import { useHerald } from "../../harness/servers/herald.ts";

const perSecond = 50;
const herald = useHerald({
  oneNode: "a key's requests are counted by each node",
  env: { HERALD_LIMIT_REQUESTS_PER_SECOND: String(perSecond), HERALD_LIMIT_REQUESTS_BURST: String(perSecond) },
});
const operations: Operation[] = Object.values<Operation>(createOperations(defaultPayloadLimits));

/** Sends a request with exactly these header lines, `Host` included. */
function send(line: string, headers: string[], body = ""): Promise<RawAnswer> {
  return rawHttp(herald().url, [[`${line} HTTP/1.1`, ...headers, "", body].join("\r\n")], `an answer to ${line}`);
}

/** What is wrong with a refusal that should be a `bad_request`; empty if nothing is. */
function faultsOf({ status, headers, body }: RawAnswer): string[] {
  const id = headers.get("x-request-id");
  const faults: string[] = [];
  if (status !== 400) faults.push(`status ${status}`);
  if (!/"code":"bad_request"/.test(body)) faults.push(`body ${body.slice(0, 200)}`);
  if (id === undefined || !body.includes(`"request_id":"${id}"`)) faults.push(`X-Request-Id ${id}`);
  if (headers.get("connection") !== "close") faults.push(`Connection ${headers.get("connection")}`);
  return faults;
}

const withKey = () => `Admin-Api-Key: ${herald().key}`;
const json = "Content-Type: application/json";
/** Every route, and two addresses outside the router. */
const lines = [
  ...operations.map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "x")}`),
  ...["/", "/docs", "/docs/x/y", "/llms.txt", "/console", "/console/assets/x.js", "/ws", "/sse", "/nowhere"].map(
    (path) => `GET ${path}`,
  ),
  "POST /mcp",
];

describe("a `Content-Length` that is sent twice", () => {
  test.each(lines)("is refused with 400: %s", async (line) => {
    const lengths = ["Content-Length: 2", "Content-Length: 2"];
    expect(faultsOf(await send(line, ["Host: localhost", withKey(), json, ...lengths], "{}"))).toEqual([]);
  });

  test("is refused before the body is read", async () => {
    const lengths = ["Content-Length: 629145600", "Content-Length: 629145600"];
    const path = "/admin/organizations/x";
    for (const line of [`PUT ${path}`, `POST ${path}/files?name=a`, `POST ${path}/import`, "POST /admin/message/batch"])
      expect(faultsOf(await send(line, ["Host: localhost", withKey(), json, ...lengths], "{"))).toEqual([]);
  });

  test("leaves the limit of the key as it is", async () => {
    const lengths = ["Content-Length: 2", "Content-Length: 2"];
    const answer = await send("PUT /admin/organizations/x", ["Host: localhost", withKey(), json, ...lengths], "{}");
    expect(faultsOf(answer)).toEqual([]);
    const calls = Array.from({ length: perSecond * 20 }, () => herald().admin("GET", "/admin/organizations?limit=1"));
    const limited = (await Promise.all(calls)).filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    for (const { headers } of limited) {
      expect(headers.get("retry-after")).toMatch(/^\d+$/);
      expect(headers.get("ratelimit")).toMatch(/^"requests";r=0;t=\d+$/);
    }
  });
});

describe("a `Host` that is not one valid host", () => {
  const hosts = ["a:99999", "xn--", "a%2f", "%", "a:b", "a:80:90", "[::1", "a b", "a/b", "a?b", "a#b", "u@h", "", "é"];

  test.each(hosts)("is refused with 400 on every route: %j", async (host) => {
    const wrong: object[] = [];
    for (const line of lines) {
      const faults = faultsOf(await send(line, [`Host: ${host}`, "Content-Length: 0"]));
      if (faults.length > 0) wrong.push({ line, faults });
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    ["localhost", "localhost"],
    ["a", "b"],
    ["a", ""],
  ])("nor are two of them: %j and %j", async (first, second) => {
    const wrong: object[] = [];
    for (const line of lines) {
      const headers = [`Host: ${first}`, withKey(), `host: ${second}`, "Content-Length: 0"];
      const faults = faultsOf(await send(line, headers));
      if (faults.length > 0) wrong.push({ line, faults });
    }
    expect(wrong).toEqual([]);
  });

  test.each(["localhost", "LOCALHOST:7070", "127.0.0.1", "[::1]:7070", "a_b.example", "xn--bcher-kva.example", "a."])(
    "is told from one that is: %s",
    async (host) => {
      expect((await send("GET /healthz", [`Host: ${host}`])).status).toBe(200);
    },
  );
});
