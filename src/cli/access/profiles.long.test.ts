import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runHerald, startServer, type TestServer } from "../testing/run-herald.ts";
import { runOnTerminal } from "../testing/terminal.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await startServer();
  key = readFileSync(join(server.cwd, "data/admin-api-key"), "utf8").trim();
});
afterAll(() => server[Symbol.asyncDispose]());

let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "herald-profiles-"));
  file = join(home, "herald/profiles.json");
});
afterEach(() => rmSync(home, { recursive: true }));

const run = (args: string[], { env = {}, stdin = "" }: { env?: Record<string, string>; stdin?: string } = {}) =>
  runHerald(args, { env: { XDG_CONFIG_HOME: home, ...env }, stdin, cwd: home });
const login = (args: string[] = [], stdin = `${key}\n`) => run(["login", "--url", server.url, ...args], { stdin });
const saved = () => JSON.parse(readFileSync(file, "utf8"));

/** A server that remembers the keys that it was called with, and lets all of them pass. */
function startRecorder() {
  const keys: (string | null)[] = [];
  const recorder = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      keys.push(request.headers.get("Admin-Api-Key"));
      const own = { id: null, name: "n", scopes: ["*"], organization: null, allowed_senders: null, expires_at: null };
      return Response.json(request.url.endsWith("/self") ? own : { items: [] });
    },
  });
  return { keys, url: recorder.url.origin, port: recorder.port, [Symbol.dispose]: () => void recorder.stop(true) };
}

test("a login checks the key, keeps it where only its owner can read it, and commands use it from then on", async () => {
  const done = await login();
  expect(done).toEqual({
    code: 0,
    stdout: `logged in to ${server.url} as profile default, with the key "bootstrap", which may do everything\n`,
    stderr: `saved in ${file}; commands use this profile from now on\n`,
  });
  expect(saved()).toEqual({ current: "default", profiles: { default: { url: server.url, key } } });
  expect([statSync(file).mode & 0o777, statSync(join(home, "herald")).mode & 0o777]).toEqual([0o600, 0o700]);
  const listed = await run(["orgs", "list"]);
  expect(listed.stdout).toContain("demo");
  const who = await run(["whoami"]);
  expect(who.stdout.split("\n").slice(0, 4)).toEqual([
    server.url,
    "  address from  profile default",
    "  key  bootstrap",
    "  key from  profile default",
  ]);
});

test("on a terminal, the key is asked for and not shown", async () => {
  const { code, text } = await runOnTerminal(["login", "--url", server.url, "--profile", "typed"], {
    env: { XDG_CONFIG_HOME: home },
    answers: [["Admin API key for", `x\u007f${key}\r`]],
  });
  expect(text).toContain(`Admin API key for ${server.url}: \n`);
  expect(text).toContain("as profile typed");
  expect(text).not.toContain(key);
  expect(code).toBe(0);
  expect(saved().profiles.typed).toEqual({ url: server.url, key });
});

test("on a terminal, Ctrl-C cancels, and the terminal works as before", async () => {
  const { code, text } = await runOnTerminal(["login", "--url", server.url], {
    env: { XDG_CONFIG_HOME: home },
    answers: [["Admin API key for", "\u0003"]],
  });
  expect({ code, text }).toEqual({ code: 2, text: expect.stringContaining("cancelled") });
  expect(existsSync(file)).toBe(false);
});

test.each([
  ["a wrong key", "wrong", 1, "401 unauthorized"],
  ["no key", "", 2, "standard input is empty"],
  ["two words", "one two", 2, "more than one key"],
])("%s is refused, and nothing is saved", async (_name, stdin, exitCode, reason) => {
  const { code, stdout, stderr } = await login([], stdin);
  expect({ code, stdout }).toEqual({ code: exitCode, stdout: "" });
  expect(stderr).toContain(reason);
  if (exitCode === 1) expect(stderr).toEndWith("Nothing was saved.\n");
  expect(existsSync(file)).toBe(false);
});

test("a server that cannot be reached is named, and nothing is saved", async () => {
  const { code, stderr } = await run(["login", "--url", "http://127.0.0.1:1"], { stdin: key });
  expect(code).toBe(3);
  expect(stderr).toStartWith("herald: no response from http://127.0.0.1:1: connection refused (ECONNREFUSED)\n");
  expect(stderr).toEndWith("Nothing was saved.\n");
  expect(existsSync(file)).toBe(false);
});

test("profiles are listed without their secrets, chosen and forgotten", async () => {
  await login(["--profile", "one"]);
  await login(["--profile", "two"]);
  const listed = await run(["profiles"]);
  expect(listed.stdout.split("\n").map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
    ["PROFILE", "CURRENT", "ADDRESS"],
    ["one", server.url, expect.any(String)],
    ["two", "yes", server.url],
    [""],
  ]);
  expect(listed.stdout).not.toContain(key.slice(-20));
  await run(["profiles", "--use", "one"]);
  const objects = (await run(["profiles", "--json"])).stdout.trim().split("\n");
  expect(objects.map((line) => JSON.parse(line))).toMatchObject([
    { profile: "one", url: server.url, current: true },
    { profile: "two", url: server.url, current: false },
  ]);
  expect(await run(["logout"])).toMatchObject({
    code: 0,
    stdout: "logged out: profile one and its key are forgotten\n",
  });
  expect(saved()).toEqual({ current: null, profiles: { two: { url: server.url, key } } });
  const missing = await run(["profiles", "--use", "one"]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("There are: two.") });
  expect((await run(["logout", "--profile", "two"])).code).toBe(0);
  expect(readFileSync(file, "utf8")).not.toContain(key);
});

test("a file that others can read is refused, with what to do", async () => {
  await login();
  chmodSync(file, 0o640);
  const { code, stdout, stderr } = await run(["orgs", "list"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`Run \`chmod 600 ${file}\``);
  expect((await run(["orgs", "list", "--url", server.url, "--key", key])).code).toBe(0);
});

test.each(["{", '{"current":null}', '{"current":"a","profiles":{"a":{"url":"ftp://x","key":"k"}}}'])(
  "a damaged file is refused: %s",
  async (text) => {
    await login();
    writeFileSync(file, text);
    expect(await run(["orgs", "list"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("not a file of profiles"),
    });
  },
);

test("an option comes before the environment, that before the current profile, and that before the settings", async () => {
  using ofProfile = startRecorder();
  using other = startRecorder();
  await run(["login", "--url", ofProfile.url, "--profile", "main"], { stdin: "profile-key" });
  await run(["login", "--url", other.url, "--profile", "other"], { stdin: "other-key" });
  await run(["profiles", "--use", "main"]);
  ofProfile.keys.length = 0;
  other.keys.length = 0;
  const envKey = "environment-key-0123456789-0123456789";
  const port = { HERALD_PORT: String(other.port) };

  await run(["nodes"]);
  await run(["nodes", "--key", "option-key"]);
  expect(ofProfile.keys.splice(0)).toEqual(["profile-key", "option-key"]);
  await run(["nodes", "--profile", "other"]);
  await run(["nodes"], { env: { HERALD_PROFILE: "other" } });
  await run(["nodes"], { env: { HERALD_PROFILE: "other", HERALD_ADMIN_API_KEY: envKey } });
  await run(["nodes", "--url", other.url]); // the profile with this address
  await run(["nodes"], { env: { HERALD_URL: other.url, HERALD_ADMIN_API_KEY: envKey } });
  await run(["nodes"], { env: { ...port, HERALD_ADMIN_API_KEY: envKey } });
  expect(other.keys.splice(0)).toEqual(["other-key", "other-key", "other-key", "other-key", envKey, envKey]);
  await run(["nodes", "--profile", "main"], { env: { HERALD_PROFILE: "other", ...port } });
  expect(ofProfile.keys.splice(0)).toEqual(["profile-key"]);
  expect(other.keys).toEqual([]);
});

test("the key of a profile is sent to no other address", async () => {
  using mine = startRecorder();
  using other = startRecorder();
  await run(["login", "--url", mine.url], { stdin: "profile-key" });
  const refused = await run(["nodes", "--profile", "default", "--url", other.url]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("its key is not sent to") });
  const noKey = await run(["nodes", "--url", other.url]);
  expect(noKey).toMatchObject({ code: 2, stderr: expect.stringContaining("no admin API key found") });
  expect(other.keys).toEqual([]);
});

test("a profile that does not exist, or a name that cannot be one, is told", async () => {
  const missing = await run(["nodes", "--profile", "nowhere"]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no profile nowhere") });
  expect(await login(["--profile", "a b"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("cannot be the name"),
  });
});

test("a refused key says which profile it is from", async () => {
  await login();
  writeFileSync(file, readFileSync(file, "utf8").replace(key, "old-key"), { mode: 0o600 });
  const { code, stderr } = await run(["nodes"]);
  expect(code).toBe(1);
  expect(stderr).toContain(`The key is from profile default, and ${server.url} does not accept it`);
});

test("a server ignores the variables of commands", async () => {
  await using other = await startServer({ HERALD_PROFILE: "x", HERALD_URL: "http://127.0.0.1:1" });
  expect((await fetch(`${other.url}/healthz`)).status).toBe(200);
});
