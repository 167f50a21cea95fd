import { afterAll, beforeAll, expect, test } from "bun:test";
import { runHerald, startHeraldCommand, startServer, type TestServer } from "../../testing/run-herald.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const command = ["send", "message", "--org", "demo", "--from", "alice", "--to", "welcome", "--stream"];
const run = (args: string[], stdin: string) =>
  runHerald([...command, ...args, "--url", server.url], { cwd: server.cwd, stdin });

test("standard input is sent as a message that grows, and is complete when it ends", async () => {
  const listen = ["listen", "--org", "demo", "--user", "bob", "--url", server.url, "--json", "--count", "2"];
  await using bob = startHeraldCommand(listen, { cwd: server.cwd });
  expect((await bob.errorLines.next()).value).toStartWith("connected to");
  const sent = await run(["Log: "], "one\n\ntwo 👋\n");
  expect(sent).toMatchObject({ code: 0, stderr: "" });
  expect(sent.stdout).toMatch(/^stored as \S+, 15 characters\n$/);
  const next = async () => JSON.parse((await bob.lines.next()).value ?? "null");
  expect((await next()).message).toMatchObject({ body: "Log: ", open: true });
  expect((await next()).message_append).toMatchObject({ offset: 5 });
  const report = await runHerald(
    ["report", "message", "--org", "demo", "--url", server.url, "--json", idIn(sent.stdout)],
    {
      cwd: server.cwd,
    },
  );
  expect(JSON.parse(report.stdout).message.body).toBe("Log: one\n\ntwo 👋");
});

test("it may be tried, and does not wait", async () => {
  expect((await run(["--dry-run"], "")).stdout).toStartWith("would be sent to 3 users");
  expect(await run(["--wait", "1"], "")).toMatchObject({ code: 2, stderr: expect.stringContaining("--wait") });
});

function idIn(text: string): string {
  return /stored as (\S+),/.exec(text)?.[1] ?? "";
}
