import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { eventually, within } from "../harness/deadline.ts";
import { useHerald } from "../harness/servers/herald.ts";

const herald = useHerald({ oneNode: "what is told of is a connection" });
const chunkOf = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const lastChunk = "0\r\n\r\n";
const piece = chunkOf("x".repeat(65_536));

/** Begins a request with a body of undeclared length. */
async function begin(method: string, path: string, headers: Record<string, string> = {}) {
  const { hostname, port, host } = new URL(herald().url);
  const socket = connect(Number(port), hostname);
  const closed = new Promise((resolve) => socket.on("close", resolve));
  let heard = "";
  socket.on("error", () => undefined);
  socket.on("data", (bytes) => {
    heard += bytes.toString("latin1");
  });
  await once(socket, "connect");
  const lines = Object.entries({ Host: host, "Transfer-Encoding": "chunked", ...headers });
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.map((line) => `${line.join(": ")}\r\n`).join("")}\r\n`);
  return {
    write: (text: string) => socket.write(text),
    statuses: () => [...heard.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
    /** Resolves once the server has closed the connection. */
    closed: () => within(closed, "the connection to be closed"),
    end: () => socket.destroy(),
  };
}

const withKey = () => ({ "Admin-Api-Key": herald().key, "Content-Type": "application/json" });

test.each([
  ["GET", "/healthz", 400],
  ["HEAD", "/docs", 400],
  ["GET", "/sse", 400],
  ["POST", "/admin/message", 401],
  ["POST", "/admin/message/batch", 401],
  ["POST", "/nowhere", 404],
])(
  "%s %s without a key and with a body that has no end is answered %d, and its connection closed",
  async (method, path, status) => {
    const call = await begin(method, path);
    call.write(piece);
    await call.closed();
    expect(call.statuses()).toEqual([status]);
  },
);

test.each([
  ["POST", "/admin/message", 413],
  ["DELETE", "/admin/organizations/nobody/users/nobody/sessions", 404],
])(
  "%s %s with a key and a body that has no end is answered %d, and its connection closed",
  async (method, path, status) => {
    const call = await begin(method, path, withKey());
    for (let count = 0; count < 20; count++) call.write(piece); // more than a request may have
    await call.closed();
    expect(call.statuses()).toEqual([status]);
  },
);

test("a body of undeclared length that has an end leaves its connection open, whether the call succeeds or not", async () => {
  const call = await begin("PUT", "/admin/organizations/endless", withKey());
  call.write(chunkOf("{}") + lastChunk);
  await eventually(() => call.statuses().length === 1 || undefined, "an answer");
  call.write(`PUT /admin/organizations/endless HTTP/1.1\r\nHost: herald\r\nTransfer-Encoding: chunked\r\n`);
  for (const [name, value] of Object.entries(withKey())) call.write(`${name}: ${value}\r\n`);
  call.write(`\r\n${chunkOf('{"unknown":1}')}${lastChunk}`);
  await eventually(() => call.statuses().length === 2 || undefined, "an answer");
  call.write("GET /healthz HTTP/1.1\r\nHost: herald\r\n\r\n");
  await eventually(() => call.statuses().length === 3 || undefined, "an answer on the same connection");
  expect(call.statuses()).toEqual([201, 422, 200]);
  call.end();
});

test("a body that a call does not take is waited for, and ends the connection only if it has no end", async () => {
  await fetch(`${herald().url}/admin/organizations/bodiless`, { method: "PUT", headers: withKey(), body: "{}" });
  await fetch(`${herald().url}/admin/organizations/bodiless/users/u1`, {
    method: "PUT",
    headers: withKey(),
    body: "{}",
  });
  const path = "/admin/organizations/bodiless/users/u1/sessions";
  const ended = await begin("DELETE", path, withKey());
  await Bun.sleep(100); // the call is answered, if nothing waits for the body
  ended.write(piece + lastChunk);
  await eventually(() => ended.statuses().length === 1 || undefined, "an answer");
  ended.write("GET /healthz HTTP/1.1\r\nHost: herald\r\n\r\n");
  await eventually(() => ended.statuses().length === 2 || undefined, "an answer on the same connection");
  ended.end();
  const endless = await begin("DELETE", path, withKey());
  for (let count = 0; count < 20; count++) endless.write(piece);
  await endless.closed();
  expect([ended.statuses(), endless.statuses()]).toEqual([[204, 200], [204]]);
});
