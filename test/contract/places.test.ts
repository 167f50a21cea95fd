import { expect, test } from "bun:test";
import { useHerald } from "../harness/servers/herald.ts";

const herald = useHerald({ env: { HERALD_TRUSTED_PROXIES: "127.0.0.1,::1" } });

const pages = [
  "/docs",
  "/docs/realtime",
  "/docs/how-to/receive",
  "/docs/how-to/receive.md",
  "/docs/how-to/send-safely.md",
];
const others = /(?:http|ws):\/\/(?:localhost|127\.0\.0\.1):7070|[^/]data\/admin-api-key/;

async function read(path: string, host: string, more: Record<string, string> = {}) {
  return await herald().http<string>("GET", path, { headers: { Host: host, ...more } });
}

test("commands and snippets call the server by the address at which they are read, and its entity tag is another for each", async () => {
  const https = { "X-Forwarded-Proto": "https" };
  for (const path of pages) {
    const one = await read(path, "one.example.org:8080");
    const other = await read(path, "other.example.org", https);
    expect(one.text).toMatch(/(?:http|ws):\/\/one\.example\.org:8080/);
    expect(other.text).toMatch(/(?:https|wss):\/\/other\.example\.org/);
    for (const { text } of [one, other]) expect(text).not.toMatch(others);
    const etag = one.headers.get("etag") ?? "";
    expect((await read(path, "one.example.org:8080", { "If-None-Match": etag })).status).toBe(304);
    expect((await read(path, "other.example.org", { ...https, "If-None-Match": etag })).status).toBe(200);
  }
});

test("the AsyncAPI document names the address at which it is read", async () => {
  const { text, headers } = await read("/asyncapi.json", "one.example.org:8080");
  expect(text).toContain('"default":"one.example.org:8080"');
  expect(text).not.toContain("localhost:7070");
  const other = await read("/asyncapi.json", "other.example.org", { "X-Forwarded-Proto": "https" });
  expect(other.text).toContain('"protocol":"wss"');
  expect(other.headers.get("etag")).not.toBe(headers.get("etag"));
});

test("a host that is none changes nothing", async () => {
  const hostile = { "X-Forwarded-Host": "<script>" };
  expect((await read("/docs", "one.example.org", hostile)).text).toContain("export HERALD=http://localhost:7070\n");
});
