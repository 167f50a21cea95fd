import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { rawHttp } from "../harness/clients/raw-http.ts";
import { errorsLogged, useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({
  env: {
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
  },
});

/** Expects that the server still works. Its logged errors are checked after the last test, as in every file. */
async function expectHealthy(): Promise<void> {
  expect((await herald().http("GET", "/readyz")).status).toBe(200);
}

const head = (line: string, ...headers: string[]) => [line, "Host: localhost", ...headers].join("\r\n");

describe("promise 8: malformed HTTP gets a clear 4xx or the end of its connection, never a 500, and nothing hangs", () => {
  test("of many kinds, and the next request is served", async () => {
    const key = `Admin-Api-Key: ${herald().key}`;
    const json = "Content-Type: application/json";
    const raw: Record<string, (string | Uint8Array)[]> = {
      "random bytes": [new Uint8Array(Array.from({ length: 4096 }, (_, index) => (index * 7919) % 256)), "\r\n\r\n"],
      "no version": ["GET /healthz\r\n\r\n"],
      "HTTP/0.9": ["GET /healthz HTTP/0.9\r\nHost: x\r\n\r\n"],
      "HTTP/9.9": ["GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n"],
      "no host": ["GET /admin/organizations HTTP/1.1\r\n\r\n"],
      "two hosts": ["GET /admin/organizations HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
      "an odd host": [`GET /admin/organizations HTTP/1.1\r\nHost: [::1\r\n${key}\r\n\r\n`],
      "a host with a port that is too large": [`GET /healthz HTTP/1.1\r\nHost: a:99999\r\n${key}\r\n\r\n`],
      "a host that is half an internationalized name": [`GET /sse HTTP/1.1\r\nHost: xn--\r\n${key}\r\n\r\n`],
      "a percent-encoded host": [`GET /ws HTTP/1.1\r\nHost: a%2f\r\n${key}\r\n\r\n`],
      "an empty host": [`GET /admin/organizations HTTP/1.1\r\nHost:\r\n${key}\r\nConnection: close\r\n\r\n`],
      "a host of spaces": [`GET /admin/organizations HTTP/1.1\r\nHost: a b\r\n${key}\r\nConnection: close\r\n\r\n`],
      "an absolute target": [
        `GET http://evil.example/admin/organizations HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      ],
      "a target of stars": ["OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
      "a target without a slash": ["GET admin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
      "two slashes": [`GET //evil.example/admin HTTP/1.1\r\nHost: x\r\n${key}\r\nConnection: close\r\n\r\n`],
      "a target with a fragment": [`GET /admin/organizations#x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`],
      "control characters in the target": ["GET /adm\x01in HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
      "bytes above 127 in the target": [
        Buffer.from("GET /admin/organizations/\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "latin1"),
      ],
      "an unknown method": [`${head("BREW /admin/message HTTP/1.1", key, "Connection: close")}\r\n\r\n`],
      CONNECT: [`${head("CONNECT x:443 HTTP/1.1", key, "Connection: close")}\r\n\r\n`],
      TRACE: [`${head("TRACE /admin/message HTTP/1.1", key, "Connection: close")}\r\n\r\n`],
      "two lengths": [
        `${head("POST /admin/message HTTP/1.1", key, json, "Content-Length: 2", "Content-Length: 3")}\r\n\r\n{}x`,
      ],
      "one length twice": [
        `${head("POST /admin/message HTTP/1.1", key, json, "Content-Length: 2", "Content-Length: 2")}\r\n\r\n{}`,
      ],
      "a length and chunks": [
        `${head("POST /admin/message HTTP/1.1", key, json, "Content-Length: 2", "Transfer-Encoding: chunked")}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      ],
      "a negative length": [`${head("POST /admin/message HTTP/1.1", key, json, "Content-Length: -1")}\r\n\r\n{}`],
      "a length that is no number": [
        `${head("POST /admin/message HTTP/1.1", key, json, "Content-Length: two")}\r\n\r\n{}`,
      ],
      "a chunk size that is no number": [
        `${head("POST /admin/message HTTP/1.1", key, json, "Transfer-Encoding: chunked")}\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
      ],
      "a chunk size that is too large": [
        `${head("POST /admin/message HTTP/1.1", key, json, "Transfer-Encoding: chunked")}\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n`,
      ],
      "a folded header": ["GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n 2\r\n\r\n"],
      "a header without a colon": ["GET /healthz HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n"],
      "a header with a space before its colon": ["GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n"],
      "a header that is too long": [`GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(200_000)}\r\n\r\n`],
      "too many headers": [
        `GET /healthz HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 5_000 }, (_, index) => `X-${index}: 1`).join("\r\n")}\r\n\r\n`,
      ],
      "a target that is too long": [`GET /${"a".repeat(200_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
      "a key in bytes above 127": [
        Buffer.from(
          `${head("GET /admin/organizations HTTP/1.1", "Admin-Api-Key: \xff\xfe\x80", "Connection: close")}\r\n\r\n`,
          "latin1",
        ),
      ],
      "two keys": [
        `${head("GET /admin/organizations HTTP/1.1", "Admin-Api-Key: a", "Admin-Api-Key: b", "Connection: close")}\r\n\r\n`,
      ],
      "an upgrade without a key": [
        `${head("GET /ws HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")}\r\n\r\n`,
      ],
      "an upgrade of another version": [
        `${head("GET /ws HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 8", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")}\r\n\r\n`,
      ],
      "an upgrade to something else": [`${head("GET /ws HTTP/1.1", "Connection: Upgrade", "Upgrade: h2c")}\r\n\r\n`],
    };
    // Two parties could read these bytes as different requests: serving them would allow request smuggling.
    const refused = new Set([
      "random bytes",
      "no version",
      "no host",
      "two hosts",
      "an odd host",
      "an empty host",
      "a host of spaces",
      "a host with a port that is too large",
      "a host that is half an internationalized name",
      "a percent-encoded host",
      "two lengths",
      "one length twice",
      "a length and chunks",
      "a negative length",
      "a length that is no number",
      "a chunk size that is no number",
      "a chunk size that is too large",
      "a header that is too long",
      "a target that is too long",
      "two keys",
      "an upgrade without a key",
    ]);
    const wrong: object[] = [];
    for (const [name, chunks] of Object.entries(raw)) {
      const logged = errorsLogged(herald()).length;
      const answer = await rawHttp(herald().url, chunks, `an answer to ${name}, or the end of the connection`, 40_000);
      const status = answer.status ?? 400;
      const isFine =
        (status >= 400 && status < 500) ||
        status === 501 ||
        status === 505 ||
        (!refused.has(name) && status >= 200 && status < 400);
      await expectHealthy();
      const errors = errorsLogged(herald()).slice(logged);
      if (!isFine || errors.length > 0) wrong.push({ name, status, errors });
    }
    expect(wrong).toEqual([]);
  });

  test("a request that stops half-way is abandoned after the idle time or when its connection ends, and others are served meanwhile", async () => {
    const { hostname, port } = new URL(herald().url);
    const halves = Array.from({ length: 50 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      socket.write(
        `${head("POST /admin/message HTTP/1.1", `Admin-Api-Key: ${herald().key}`, "Content-Type: application/json", "Content-Length: 1000")}\r\n\r\n{"a":`,
      );
      return socket;
    });
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    for (let index = 0; index < 20; index += 1) expect((await org.send("alice", { cid, body: "x" })).status).toBe(201);
    for (const socket of halves) socket.destroy();
    await expectHealthy();
  });
});
