import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../../../test/harness/deadline.ts";
import { runHerald, startHeraldCommand, startServer, type TestServer } from "../../testing/run-herald.ts";
import { runOnTerminal } from "../../testing/terminal.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...args: string[]) => runHerald([...args, "--url", server.url], { cwd: server.cwd });
/** What a command prints that must succeed. */
async function stdoutOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}
const objectsOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
/** The first column of a table, without its heading. */
const idsOf = (table: string) =>
  table
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split("  ")[0]);

test("an organization is created, gets limits, is shown, listed and deleted", async () => {
  expect(await stdoutOf("orgs", "put", "bakery", "--name", "The bakery")).toBe("saved bakery  The bakery\n");
  const limits = ["--messages-per-second", "100", "--connections", "0", "--stored-bytes", "1000000"];
  expect(await stdoutOf("orgs", "put", "bakery", ...limits)).toBe("saved bakery  The bakery\n");
  await stdoutOf("orgs", "put", "bakery", "--stored-bytes", "default");
  const shown = JSON.parse(await stdoutOf("orgs", "get", "bakery", "--json"));
  expect(shown).toMatchObject({
    name: "The bakery",
    limits: { requests_per_second: null, messages_per_second: 100, connections: 0, stored_bytes: null },
  });
  const lines = (await stdoutOf("orgs", "get", "bakery")).split("\n");
  expect(lines.slice(0, 3)).toEqual([
    "bakery  The bakery",
    `  created  ${shown.created_at}`,
    expect.stringMatching(/^LIMIT +USED +ALLOWED$/),
  ]);
  expect(lines[3]).toMatch(/^requests per second +\d+ +the server's default$/);
  expect(lines[4]).toMatch(/^messages per second +\d+ +100$/);
  expect(lines[5]).toMatch(/^connections +0 +any number$/);
  expect(await stdoutOf("orgs", "put", "bakery", "--no-name")).toBe("saved bakery\n");
  expect(idsOf(await stdoutOf("orgs", "list"))).toEqual(["bakery", "demo"]);
  expect(objectsOf(await stdoutOf("orgs", "list", "--json")).map(({ id }) => id)).toEqual(["bakery", "demo"]);
  expect(await stdoutOf("orgs", "delete", "bakery", "--yes")).toBe("deleted bakery\n");
  expect((await run("orgs", "get", "bakery")).stderr).toContain("404 organization_not_found");
  expect((await run("orgs", "put", "bakery", "--connections", "many")).code).toBe(2);
});

test("a user is created, blocked, unblocked, signed out and deleted", async () => {
  expect(await stdoutOf("users", "put", "dora", "--org", "demo", "--name", "Dora")).toBe("saved dora  Dora\n");
  expect(await stdoutOf("users", "block", "dora", "--org", "demo")).toBe("blocked dora\n");
  expect(await stdoutOf("users", "get", "dora", "--org", "demo")).toMatch(
    /^dora {2}Dora\n {2}state {2}blocked\n {2}created /,
  );
  expect((await stdoutOf("users", "list", "--org", "demo")).split("\n")[4]).toMatch(/^dora +Dora +blocked +2/);
  expect(await stdoutOf("users", "unblock", "dora", "--org", "demo")).toBe("unblocked dora\n");
  expect(JSON.parse(await stdoutOf("users", "get", "dora", "--org", "demo", "--json"))).not.toHaveProperty("blocked");
  const token = (await run("tokens", "create", "--org", "demo", "--user", "dora")).stdout.trim();
  expect(await stdoutOf("users", "sign-out", "dora", "--org", "demo")).toBe("signed out dora\n");
  expect((await run("listen", "--token", token)).stderr).toContain("4401");
  expect(await stdoutOf("users", "delete", "dora", "--org", "demo", "--yes", "--json")).toBe('{"deleted":"dora"}\n');
  expect((await run("users", "get", "dora", "--org", "demo")).code).toBe(1);
});

test("who is online is listed, counted and, for given users, told with their devices", async () => {
  await using bob = startHeraldCommand(["listen", "--org", "demo", "--user", "bob", "--url", server.url], {
    cwd: server.cwd,
  });
  expect((await bob.errorLines.next()).value).toStartWith("connected");
  expect(await stdoutOf("users", "online", "--org", "demo")).toBe("USER  CONNECTIONS\nbob   1\n");
  expect(await stdoutOf("users", "online", "--org", "demo", "--count")).toBe("1 users online, on 1 connections\n");
  const devices = await stdoutOf("users", "online", "--org", "demo", "--uids", "alice,bob", "--devices");
  expect(devices.split("\n").slice(1, 3)).toEqual(["alice  0", "bob    1            herald listen"]);
  expect((await run("users", "online", "--org", "demo", "--devices")).code).toBe(2);
});

test("users tell when they were last seen", async () => {
  const asked = ["users", "online", "--org", "demo", "--uids", "alice,gina", "--last-seen"];
  await stdoutOf("users", "put", "gina", "--org", "demo");
  await using gina = startHeraldCommand(["listen", "--org", "demo", "--user", "gina", "--url", server.url], {
    cwd: server.cwd,
  });
  expect((await gina.errorLines.next()).value).toStartWith("connected");
  expect(await stdoutOf(...asked)).toBe("USER   CONNECTIONS  LAST SEEN\nalice  0\ngina   1\n");
  gina.kill("SIGTERM");
  const seen = await eventually(async () => /^gina +0 +(\S+)$/m.exec(await stdoutOf(...asked))?.[1], "a time");
  const told = objectsOf(await stdoutOf(...asked, "--json"));
  expect(told.map(({ last_seen }) => last_seen)).toEqual([null, seen]);
});

test("a conversation is created, changed, read and deleted, and its participants come and go", async () => {
  const there = ["--org", "demo"];
  await stdoutOf("conversations", "put", "orders", ...there, "--name", "Orders", "--participants", "alice,emil");
  expect(await stdoutOf("participants", "add", "orders", "bob", "frida", ...there)).toBe("added bob\nadded frida\n");
  expect(await stdoutOf("participants", "remove", "orders", "emil", ...there)).toBe("removed emil\n");
  expect(idsOf(await stdoutOf("participants", "list", "orders", ...there))).toEqual(["alice", "bob", "frida"]);
  expect(idsOf(await stdoutOf("conversations", "list", ...there))).toEqual(["orders", "welcome"]);
  expect(await stdoutOf("conversations", "get", "orders", ...there)).toMatch(/^orders {2}Orders\n {2}created {2}2/);
  const send = ["send", "message", ...there, "--from", "alice", "--to", "orders"];
  await stdoutOf(...send, "First\nof two");
  await stdoutOf(...send, "Second");
  const messages = (await stdoutOf("conversations", "messages", "orders", ...there)).split("\n");
  expect(messages[0]).toMatch(/^TIME +ID +FROM +TEXT$/);
  expect(messages[1]).toEndWith("  alice  Second");
  expect(messages[2]).toEndWith("  alice  First\\u000aof two");
  const [newest] = objectsOf(await stdoutOf("conversations", "messages", "orders", ...there, "--json"));
  const older = objectsOf(
    await stdoutOf("conversations", "messages", "orders", ...there, "--before", newest._id, "--json"),
  );
  expect(older.map(({ body }) => body)).toEqual(["First\nof two"]);
  await stdoutOf("conversations", "put", "orders", ...there, "--no-participants");
  const empty = await run("participants", "list", "orders", ...there);
  expect(empty).toEqual({ code: 0, stdout: "", stderr: "The conversation has no participants.\n" });
  expect(await stdoutOf("conversations", "delete", "orders", ...there, "--yes")).toBe("deleted orders\n");
});

test("a token is revoked by itself, or by its id", async () => {
  const create = async () => (await run("tokens", "create", "--org", "demo", "--user", "carol")).stdout.trim();
  const first = await create();
  const revoked = await stdoutOf("tokens", "revoke", first);
  expect(revoked).toMatch(/^revoked \S+\n$/);
  expect((await run("listen", "--token", first)).stderr).toContain("4401");
  const second = await create();
  const { jti } = JSON.parse(Buffer.from(second.split(".")[1] ?? "", "base64url").toString());
  expect(await stdoutOf("tokens", "revoke", jti, "--org", "demo", "--user", "carol")).toBe(`revoked ${jti}\n`);
  expect(await run("tokens", "revoke", jti)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--org and --user"),
  });
});

test("a long list is cut at the limit, says how to go on, and goes on from there", async () => {
  await stdoutOf("orgs", "put", "crowd");
  const uids = Array.from({ length: 150 }, (_, index) => `u${String(index).padStart(3, "0")}`);
  await stdoutOf("conversations", "put", "all", "--org", "crowd", "--participants", uids.join(","));
  const list = ["users", "list", "--org", "crowd"];
  const first = await run(...list);
  expect(idsOf(first.stdout)).toEqual(uids.slice(0, 100));
  const [, cursor = ""] = /use --all, or go on with --cursor (\S+)$/m.exec(first.stderr) ?? [];
  expect(idsOf(await stdoutOf(...list, "--cursor", cursor))).toEqual(uids.slice(100));
  expect(idsOf(await stdoutOf(...list, "--all"))).toEqual(uids);
  const some = await run(...list, "--limit", "3", "--json");
  expect(objectsOf(some.stdout).map(({ id }) => id)).toEqual(uids.slice(0, 3));
  expect(some.stderr).toContain("--cursor");
});

test("nothing is deleted without a yes", async () => {
  await stdoutOf("orgs", "put", "kept");
  const piped = await run("orgs", "delete", "kept");
  expect(piped).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("Add --yes") });
  const answer = (typed: string) =>
    runOnTerminal(["orgs", "delete", "kept", "--url", server.url], { cwd: server.cwd, answers: [["[y/N]", typed]] });
  const refused = await answer("\r");
  expect(refused).toEqual({ code: 2, text: expect.stringContaining("nothing was deleted") });
  expect(refused.text).toContain(`on ${server.url}?`);
  expect((await run("orgs", "get", "kept")).code).toBe(0);
  expect(await answer("y\r")).toEqual({ code: 0, text: expect.stringContaining("deleted kept") });
  expect((await run("orgs", "get", "kept")).code).toBe(1);
});

test("on a terminal, a table fits it and has colours, unless NO_COLOR is set; elsewhere it is complete and plain", async () => {
  const name = "a name that is much longer than the terminal is wide, so it cannot be shown";
  await stdoutOf("users", "put", "long", "--org", "demo", "--name", name);
  const list = ["users", "list", "--org", "demo", "--url", server.url];
  const coloured = await runOnTerminal(list, { cwd: server.cwd, columns: 60 });
  expect(coloured.text).toContain("\u001b[1mUSER");
  const env = { NO_COLOR: "1" };
  const { text } = await runOnTerminal(list, { cwd: server.cwd, columns: 60, env });
  expect(text).not.toContain("\u001b");
  expect(text).toContain("…");
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(60);
  const piped = await stdoutOf("users", "list", "--org", "demo");
  expect(piped).toContain(name);
  expect(piped).not.toContain("\u001b");
});
