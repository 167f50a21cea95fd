import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunOptions, runHerald } from "../testing/run-herald.ts";

const folder = mkdtempSync(join(tmpdir(), "herald-cli-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));

const profiles = join(folder, "herald/profiles.json");
mkdirSync(join(folder, "herald"));
writeFileSync(
  profiles,
  JSON.stringify({ current: "bad", profiles: { bad: { url: "http://127.0.0.1:1", key: "zwie\nbel-of-a-profile" } } }),
);
chmodSync(profiles, 0o600);
writeFileSync(join(folder, "admin-api-key"), "zwie\nbel-of-a-file\n");
writeFileSync(
  join(folder, "settings"),
  "HERALD_ADMIN_API_KEY=zwiebel of a settings file, which is too long to be short\n",
);

const at = ["--url", "http://127.0.0.1:1"];

describe("a secret that cannot be one is refused with where it comes from, and not repeated", () => {
  test.each<[where: string, args: string[], options: RunOptions]>([
    ["--key", ["nodes", "--key", "zwie\nbel", ...at], {}],
    ["--key", ["nodes", "--key", "zwiebél", ...at], {}],
    ["--token", ["listen", "--token", "zwie\nbel", ...at], {}],
    ["profile bad", ["nodes"], { env: { XDG_CONFIG_HOME: folder } }],
    ["admin-api-key", ["nodes", ...at], { env: { HERALD_DATA_DIR: folder } }],
    ["HERALD_ADMIN_API_KEY", ["nodes", ...at], { env: { HERALD_ADMIN_API_KEY: `zwie\nbel${"x".repeat(40)}` } }],
    ["HERALD_ADMIN_API_KEY", ["nodes", "--config", join(folder, "settings")], {}],
    ["visible ASCII", ["login", ...at], { stdin: "zwiebél" }],
    ["--url", ["nodes", "--key", "k", "--url", "http://user:zwiebel@host"], {}],
    ["--url", ["nodes", "--key", "k", "--url", "host:80?key=zwiebel"], {}],
    ["--url", ["nodes", "--key", "k", "--url", "hk_zwiebel"], {}],
    ["HERALD_URL", ["nodes", "--key", "k"], { env: { HERALD_URL: "user:zwiebel@host" } }],
  ])("%s: %j", async (where, args, options) => {
    const { code, stdout, stderr } = await runHerald(args, options);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(where);
    expect(stderr).not.toMatch(/zwie|bel/);
  });
});

test("white space around a key is no part of it, and an address without a scheme is told what to write", async () => {
  const keys: (string | null)[] = [];
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ headers }) {
      keys.push(headers.get("admin-api-key"));
      return Response.json({ items: [] });
    },
  });
  expect((await runHerald(["nodes", "--key", " the-key\n", "--url", server.url.origin])).code).toBe(0);
  expect(keys).toEqual(["the-key"]);
  const { stderr } = await runHerald(["nodes", "--key", "k", "--url", server.url.host]);
  expect(stderr).toContain(`Give one such as http://${server.url.host}.`);
});

test("a dead proxy is named instead of the server", async () => {
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ items: [] }) });
  const { origin, host } = server.url;
  const env = { HTTP_PROXY: "http://user:zwiebel@127.0.0.1:1" };
  const refused = await runHerald(["nodes", "--key", "k", "--url", origin], { env });
  expect(refused).toEqual({
    code: 3,
    stdout: "",
    stderr: `herald: no response from ${origin} through the proxy 127.0.0.1:1 (from HTTP_PROXY): connection refused (ECONNREFUSED)\nCheck the proxy, or name ${host} in NO_PROXY to do without it.\n`,
  });
  const around = await runHerald(["nodes", "--key", "k", "--url", origin], { env: { ...env, NO_PROXY: host } });
  expect(around.code).toBe(0);
  using proxy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no", { status: 407 }) });
  const asked = await runHerald(["nodes", "--key", "k", "--url", origin], { env: { HTTP_PROXY: proxy.url.origin } });
  expect(asked.code).toBe(3);
  expect(asked.stderr).toContain(`the proxy ${proxy.url.host} (from HTTP_PROXY) answered 407 for ${origin}`);
});
