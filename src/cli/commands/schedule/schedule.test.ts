import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../../../test/harness/deadline.ts";
import { runHerald, startServer, type TestServer } from "../../testing/run-herald.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...args: string[]) =>
  runHerald(["schedule", ...args, "--org", "demo", "--url", server.url], { cwd: server.cwd });
const toWelcome = ["--from", "alice", "--to", "welcome"];

test("a message is scheduled, listed, shown and cancelled", async () => {
  const put = await run("message", "--at", "2h", "--id", "later", ...toWelcome, "Hello later");
  expect(put).toMatchObject({ code: 0, stderr: "" });
  expect(put.stdout).toMatch(/^scheduled as later for \d{4}-.*Z\n$/);
  const list = await run("list", "--state", "waiting");
  expect(list.stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["ID", "AT", "STATE", "WHAT"],
    ["later", expect.any(String), "waiting", "alice to welcome: Hello later"],
    [""],
  ]);
  expect((await run("get", "later")).stdout).toContain("  what  alice to welcome: Hello later\n");
  expect(await run("cancel", "later")).toEqual({ code: 0, stdout: "cancelled later\n", stderr: "" });
  expect(JSON.parse((await run("get", "later", "--json")).stdout)).toMatchObject({ state: "cancelled" });
  expect((await run("list", "--state", "waiting")).stderr).toBe("No scheduled send is waiting.\n");
  const unknown = await run("cancel", "never-scheduled");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("Run `herald schedule list`")]);
});

test("a system message is sent when it is due, and is then shown with what it was sent as", async () => {
  const order = ["--at", "2020-01-01", "--id", "now", "--from", "alice", "--to", "bob,carol", "--x", '{"a":1}'];
  const put = await run("system", ...order, "--json");
  expect(JSON.parse(put.stdout)).toMatchObject({ id: "now", state: "waiting", request: { senderId: "alice" } });
  const sent = await eventually(async () => {
    const { stdout } = await run("get", "now");
    return stdout.includes("state  sent") ? stdout : undefined;
  }, "the scheduled send to be sent");
  expect(sent).toMatch(/\n {2}what {2}[0-9a-f-]{36}\n {2}sent {2}/);
  const late = await run("cancel", "now");
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("no longer waits: it was sent")]);
});

test("a dry run schedules nothing, and what is wrong is told at once", async () => {
  const dry = await run("message", "--at", "in 10m", "--dry-run", ...toWelcome, "x");
  expect(dry.stdout).toBe("would be sent to 3 users, 0 of them online\n");
  const stranger = await run("message", "--at", "10m", "--from", "nobody", "--to", "welcome", "x");
  expect([stranger.code, stranger.stdout]).toEqual([1, ""]);
  expect(await run("message", "--at", "10m", ...toWelcome)).toMatchObject({ code: 2 });
  expect((await run("message", "--at", "soon", ...toWelcome, "x")).stderr).toContain("or a duration");
});
