import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../../../test/harness/deadline.ts";
import { startReceiver } from "../../../../test/harness/servers/receiver.ts";
import { runHerald, startServer, type TestServer } from "../../testing/run-herald.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ HERALD_DEMO: "1", HERALD_WEBHOOK_ALLOW_PRIVATE: "1" });
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...args: string[]) =>
  runHerald(["webhooks", ...args, "--org", "demo", "--url", server.url], { cwd: server.cwd });

test("a webhook is created with a secret on stdout alone, tested, listed, rotated and deleted", async () => {
  using receiver = startReceiver();
  const made = await run("put", "push", "--post", receiver.url, "--wait", "1", "--event", "message.unreached");
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("it is not shown again") });
  expect(made.stdout).toMatch(/^whsec_\S+\n$/);
  const refused = await run("test", "push"); // the receiver does not know the secret
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("did not accept the test") });
  expect(refused.stdout).toContain("  last answer  the receiver answered 400: not signed\n");
  receiver.secrets.push(made.stdout.trim());
  const tried = await run("test", "push");
  expect(tried).toMatchObject({ code: 0, stderr: "" });
  expect(tried.stdout).toContain("  state  delivered\n");
  expect((await run("list")).stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["ID", "STATE", "WAIT", "UNTIL", "URL"],
    ["push", "active", "1 s", "delivered", receiver.url],
    [""],
  ]);
  expect((await run("get", "push")).stdout).toContain("  events  message.unreached\n");
  expect((await run("put", "push", "--post", receiver.url, "--until", "acknowledged")).stdout).toBe("changed push\n");
  const rotated = await run("rotate", "push");
  expect(rotated.stdout).toMatch(/^whsec_\S+\n$/);
  expect(rotated.stdout).not.toBe(made.stdout);
  expect(await run("delete", "push")).toEqual({ code: 0, stdout: "deleted push\n", stderr: "" });
  expect((await run("list")).stderr).toBe("There are no webhooks.\n");
});

test("deliveries are listed with what the receiver answered, and posted again", async () => {
  using receiver = startReceiver();
  const made = await run("put", "again", "--post", receiver.url, "--wait", "1");
  receiver.secrets.push(made.stdout.trim());
  const message = ["send", "message", "--org", "demo", "--from", "alice", "--to", "welcome", "hi", "--url", server.url];
  expect((await runHerald(message, { cwd: server.cwd })).code).toBe(0);
  await receiver.first(1);
  const delivered = await eventually(async () => {
    const { stdout } = await run("deliveries", "again", "--state", "delivered", "--json");
    return stdout === "" ? undefined : JSON.parse(stdout);
  }, "the delivery to be noted");
  expect(delivered).toMatchObject({ tries: 1, last_try: { status: 204 } });
  expect((await run("deliveries", "again")).stdout).toMatch(/ {2}delivered {2}1 {6}204\n/);
  expect((await run("deliveries", "again", "--state", "failed")).stderr).toBe("No delivery is failed.\n");
  const again = await run("redeliver", "again", delivered.id);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(`${delivered.id}\n  state  waiting\n`) });
  const [first, second] = await receiver.first(2);
  expect(second?.webhook.id).toBe(first?.webhook.id ?? "");
  expect((await run("get", "nothing")).code).toBe(1);
});
