import { afterAll, beforeAll, expect, test } from "bun:test";
import { runHerald, startServer, type TestServer } from "../../testing/run-herald.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...args: string[]) => runHerald([...args, "--url", server.url], { cwd: server.cwd });
const create = (...args: string[]) => run("keys", "create", "--name", "a key", ...args);
const send = (key: string, from: string) =>
  run("send", "message", "--org", "demo", "--from", from, "--to", "welcome", "--key", key, "hi");

test("a key that was made sends as its sender, is rotated, and is revoked", async () => {
  const made = await create("--scope", "message:send", "--org", "demo", "--sender", "alice", "--expires", "90d");
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("it is not shown again") });
  const key = made.stdout.trim();
  expect(key).toMatch(/^hk_[0-9a-f-]{36}_[0-9A-Za-z]{38}$/);
  const id = key.slice(3, 39);
  expect((await send(key, "alice")).code).toBe(0);
  expect(await send(key, "bob")).toMatchObject({ code: 1, stderr: expect.stringContaining("403 sender_forbidden") });

  const rotated = await run("keys", "rotate", id, "--overlap", "0");
  expect(rotated).toMatchObject({ code: 0, stderr: expect.stringContaining("the old secret no longer works") });
  expect((await send(key, "alice")).stderr).toContain("401 unauthorized");
  expect((await send(rotated.stdout.trim(), "alice")).code).toBe(0);

  expect(await run("keys", "revoke", id)).toEqual({ code: 0, stdout: `revoked ${id}\n`, stderr: "" });
  expect((await send(rotated.stdout.trim(), "alice")).stderr).toContain("401 unauthorized");
  const again = await run("keys", "revoke", id, "--json");
  expect(again).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("herald keys list") });
});

test("keys are listed for people and, one object a line, for programs", async () => {
  const restricted = ["--org", "demo", "--sender", "alice,bob", "--cidr", "127.0.0.0/8", "--expires", "2099-01-31"];
  const { stdout } = await create("--scope", "observe", "--scope", "history:read", ...restricted, "--json");
  const { key, ...made } = JSON.parse(stdout);
  expect(made).toMatchObject({ scopes: ["observe", "history:read"], expires_at: "2099-01-31T00:00:00.000Z" });
  const rotated = JSON.parse((await run("keys", "rotate", made.id, "--json")).stdout);
  const listed = await run("keys", "list");
  expect(listed.code).toBe(0);
  const [name, ...lines] = listed.stdout.slice(listed.stdout.indexOf(made.id)).split("\n");
  expect(name).toBe(`${made.id}  a key`);
  expect(lines.slice(0, 8)).toEqual([
    "  scopes  observe, history:read",
    "  organization  demo",
    "  senders  alice, bob",
    "  networks  127.0.0.0/8",
    `  created  ${made.created_at}`,
    "  last used  never",
    "  expires  2099-01-31T00:00:00.000Z",
    `  old secret until  ${rotated.old_secret_expires_at}`,
  ]);
  const objects = (await run("keys", "list", "--json")).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { key: fresh, ...shown } = rotated;
  expect(objects).toContainEqual(shown);
  expect(JSON.stringify(objects) + listed.stdout).not.toContain(key.slice(-38));
  expect(JSON.stringify(objects) + listed.stdout).not.toContain(fresh.slice(-38));
});

test("a key may hand on no more than it has, and the refusal says what to do", async () => {
  const manager = (await create("--scope", "keys:manage")).stdout.trim();
  const { code, stdout, stderr } = await create("--scope", "message:send", "--key", manager);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("403 insufficient_scope");
  expect(stderr).toContain("`message:send`");
});

test("the server's own key is rotated where it is kept, and is printed to no pipe", async () => {
  const file = `${server.cwd}/data/admin-api-key`;
  const old = await Bun.file(file).text();
  const { code, stdout, stderr } = await run("keys", "rotate", "bootstrap", "--overlap", "0");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toContain("admin-api-key");
  const fresh = await Bun.file(file).text();
  expect(fresh).not.toBe(old);
  expect(stderr).not.toContain(fresh.trim());
  expect((await run("keys", "list")).code).toBe(0);
  expect((await run("keys", "list", "--key", old.trim())).stderr).toContain("401 unauthorized");
});
