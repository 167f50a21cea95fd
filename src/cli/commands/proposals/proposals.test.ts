import { afterAll, beforeAll, expect, test } from "bun:test";
import { runHerald, startServer, type TestServer } from "../../testing/run-herald.ts";

let server: TestServer;
let agent: string;
beforeAll(async () => {
  server = await startServer();
  const made = await runHerald(
    ["keys", "create", "--name", "agent", "--scope", "message:propose", "--org", "demo", "--url", server.url, "--json"],
    { cwd: server.cwd },
  );
  agent = JSON.parse(made.stdout).key;
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...args: string[]) => runHerald([...args, "--org", "demo", "--url", server.url], { cwd: server.cwd });
const propose = (...args: string[]) => run("propose", ...args, "--key", agent);
const toWelcome = ["--from", "alice", "--to", "welcome"];

test("a message is proposed, listed and approved, which sends it", async () => {
  const put = await propose("message", "--id", "one", "--reason", "the parcel was late", ...toWelcome, "We refund it.");
  expect(put).toMatchObject({ code: 0, stderr: "" });
  expect(put.stdout).toMatch(/^proposed as one, to be decided until \d{4}-.*Z\n$/);
  const list = await run("proposals", "--state", "waiting");
  expect(list.stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["ID", "UNTIL", "STATE", "BY KEY", "WHY", "WHAT"],
    ["one", expect.any(String), "waiting", expect.any(String), "the parcel was late", expect.any(String)],
    [""],
  ]);
  const own = await run("approve", "one", "--key", agent);
  expect([own.code, own.stderr]).toEqual([1, expect.stringContaining("insufficient_scope")]);
  expect(await run("approve", "one")).toEqual({ code: 0, stdout: "approved one\n", stderr: "" });
  const [sent] = JSON.parse(`[${(await run("proposals", "--json")).stdout.trim().replaceAll("\n", ",")}]`);
  expect(sent).toMatchObject({ id: "one", state: "approved", reason: "the parcel was late" });
  const report = await run("report", "message", sent.server_mid);
  expect(report.stdout).toContain(`${sent.server_mid}  alice to welcome`);
});

test("a system message is proposed and rejected, and never approved then", async () => {
  const put = await propose("system", "--id", "two", "--from", "alice", "--to", "bob", "--x", '{"a":1}', "--json");
  expect(JSON.parse(put.stdout)).toMatchObject({ id: "two", state: "waiting", reason: null });
  const rejected = await run("reject", "two", "--reason", "not today");
  expect(rejected).toEqual({ code: 0, stdout: "rejected two\n", stderr: "" });
  const late = await run("approve", "two");
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("no longer waits: it was rejected")]);
  expect((await run("proposals", "--state", "waiting")).stderr).toBe("No proposal is waiting.\n");
  const unknown = await run("approve", "never-proposed");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("Run `herald proposals`")]);
});

test("what can no longer be sent is told, and the command fails", async () => {
  await propose("message", "--id", "three", ...toWelcome, "too late");
  expect((await run("participants", "remove", "welcome", "alice")).code).toBe(0);
  const failed = await run("approve", "three");
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("403 sender_not_participant")]);
});

test("what the bootstrap key proposes, it does not decide", async () => {
  await run("participants", "add", "welcome", "alice");
  await run("propose", "message", "--id", "own", ...toWelcome, "x");
  const own = await run("approve", "own");
  expect([own.code, own.stderr]).toEqual([1, expect.stringContaining("403 own_proposal")]);
});
