import { afterAll, beforeAll, expect, test } from "bun:test";
import { runHerald, startHeraldCommand, startServer, type TestServer } from "../../testing/run-herald.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...args: string[]) => runHerald([...args, "--url", server.url], { cwd: server.cwd });
const say = (text: string) => run("send", "message", "--org", "demo", "--from", "alice", "--to", "welcome", text);
const tell = (id: string, to: string) =>
  run("send", "system", "--org", "demo", "--from", "alice", "--to", to, "--id", id);

async function tail(...args: string[]) {
  const watcher = startHeraldCommand(["tail", "--url", server.url, ...args], { cwd: server.cwd });
  expect((await watcher.errorLines.next()).value).toBe(`watching demo on ${server.url}`);
  return watcher;
}

test("everything delivered is shown, readable or as it is on the wire, without naming the only organization", async () => {
  await using readable = await tail("--count", "2");
  await using json = await tail("--org", "demo", "--json", "--count", "2");
  await say("Hello");
  await tell("s1", "bob");
  expect((await readable.lines.next()).value).toMatch(/^\d\d:\d\d:\d\d {2}welcome {2}alice {2}Hello$/);
  expect((await readable.lines.next()).value).toMatch(/◆ system message {2}alice {2}\(s1\)$/);
  expect(JSON.parse((await json.lines.next()).value ?? "")).toMatchObject({
    message: { body: "Hello", cid: "welcome" },
  });
  expect(JSON.parse((await json.lines.next()).value ?? "")).toMatchObject({ system_message: { _id: "s1" } });
  expect([await readable.exited, await json.exited]).toEqual([0, 0]);
});

test("the filters are those of the server", async () => {
  await using watcher = await tail("--kind", "system_message", "--uid", "carol", "--json", "--count", "1");
  await say("not this");
  await tell("not-carol", "bob");
  await tell("to-carol", "carol,bob");
  expect(JSON.parse((await watcher.lines.next()).value ?? "")).toMatchObject({ system_message: { _id: "to-carol" } });
  expect(await run("tail", "--kind", "other")).toMatchObject({ code: 1, stderr: expect.stringContaining("/kind") });
});

test("an interrupt ends it with 0", async () => {
  await using watcher = await tail();
  watcher.kill("SIGINT");
  expect(await watcher.exited).toBe(0);
});

test("it says what it needs: an organization, a key that may, a server", async () => {
  const nowhere = await run("tail", "--org", "nowhere");
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining("organization_not_found") });
  const key = await run("tail", "--org", "demo", "--key", "nonsense");
  expect(key).toMatchObject({ code: 1, stderr: expect.stringContaining("Give a key of this server") });
  const gone = await runHerald(["tail", "--org", "demo", "--url", "http://127.0.0.1:1"], { cwd: server.cwd });
  expect(gone).toMatchObject({ code: 3, stderr: expect.stringContaining("Start the server") });
});

test("an interrupt prints the cursor, after which it goes on", async () => {
  await using watcher = await tail("--json");
  await say("before");
  await watcher.lines.next();
  watcher.kill("SIGINT");
  const [, cursor = ""] = /--after (\S+)$/.exec((await watcher.errorLines.next()).value ?? "") ?? [];
  await say("meanwhile");
  await using next = await tail("--json", "--after", cursor, "--count", "1");
  expect(JSON.parse((await next.lines.next()).value ?? "")).toMatchObject({ message: { body: "meanwhile" } });
  expect(await next.exited).toBe(0);
  const refused = await run("tail", "--org", "demo", "--after", cursor, "--uid", "bob");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be combined") });
});

test("a server that is killed and comes back is watched again, from where it was", async () => {
  const first = await startServer();
  const { url, cwd } = first;
  await using watcher = startHeraldCommand(["tail", "--json", "--count", "1", "--url", url], { cwd });
  expect((await watcher.errorLines.next()).value).toBe(`watching demo on ${url}`);
  first.process.kill("SIGKILL");
  expect((await watcher.errorLines.next()).value).toContain("retrying in");
  await using _again = startHeraldCommand(["serve"], { cwd, env: { HERALD_PORT: new URL(url).port } });
  let note = (await watcher.errorLines.next()).value;
  while (note?.includes("retrying in")) note = (await watcher.errorLines.next()).value;
  expect(note).toBe("watching again, from where it was");
  const send = ["send", "message", "--org", "demo", "--from", "alice", "--to", "welcome", "back", "--url", url];
  expect((await runHerald(send, { cwd })).code).toBe(0);
  expect(JSON.parse((await watcher.lines.next()).value ?? "")).toMatchObject({ message: { body: "back" } });
  expect(await watcher.exited).toBe(0);
  await first[Symbol.asyncDispose]();
});
