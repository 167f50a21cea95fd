import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../test/harness/deadline.ts";
import { collect, runHerald, startHeraldCommand, startServer, type TestServer } from "./testing/run-herald.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (args: string[], stdin: string | Uint8Array = "") =>
  runHerald([...args, "--url", server.url], { cwd: server.cwd, stdin });
const toWelcome = ["send", "message", "--org", "demo", "--from", "alice", "--to", "welcome"];
const toUsers = ["send", "system", "--org", "demo", "--from", "alice", "--to"];

/** A listener that is connected. */
async function listenAs(user: string, ...args: string[]) {
  const command = ["listen", "--org", "demo", "--user", user, "--url", server.url, ...args];
  const listener = startHeraldCommand(command, { cwd: server.cwd });
  expect((await listener.errorLines.next()).value).toBe(`connected to ${server.url} as ${user}`);
  return listener;
}
const nextEvent = async ({ lines }: { lines: AsyncGenerator<string, undefined> }) =>
  JSON.parse((await lines.next()).value ?? "null");

test("a message is heard by every participant with all that it carries", async () => {
  await using bob = await listenAs("bob", "--json", "--count", "1");
  await using carol = await listenAs("carol", "--count", "1");
  const attachment = ["--attachment", "a: b.pdf:48213:application/pdf"];
  const sent = await run([
    ...toWelcome,
    "--x",
    '{"priority":"high"}',
    ...attachment,
    "--json",
    "--id",
    "first",
    "Hello\nBob",
  ]);
  const { ask } = JSON.parse(sent.stdout);
  expect({ code: sent.code, stderr: sent.stderr, mid: ask.mid }).toEqual({ code: 0, stderr: "", mid: "first" });
  expect(await nextEvent(bob)).toMatchObject({
    message: {
      _id: ask.server_mid,
      from: "alice",
      cid: "welcome",
      body: "Hello\nBob",
      x: { priority: "high" },
      attachments: [{ file_name: "a: b.pdf" }],
    },
  });
  const shown = (await collect(carol.lines)).split("\n").map((line) => line.trim());
  expect(shown[0]).toMatch(/^\d\d:\d\d:\d\d {2}welcome {2}alice$/);
  expect(shown.slice(1, 3)).toEqual(["Hello", "Bob"]);
  expect(shown[3]).toStartWith("attached  a: b.pdf  (");
  expect(shown[4]).toBe('x  {"priority":"high"}');
  expect([await bob.exited, await carol.exited]).toEqual([0, 0]);
});

test("a system message is heard by those named", async () => {
  await using bob = await listenAs("bob", "--json", "--count", "1");
  const sent = await run([...toUsers, "bob,carol", "--x", '{"status":"ok"}', "--id", "s1"]);
  expect(sent).toMatchObject({ code: 0, stderr: "" });
  expect(sent.stdout).toMatch(/^stored \(mid s1, t \d+\)\n$/);
  expect(await nextEvent(bob)).toMatchObject({ system_message: { _id: "s1", from: "alice", x: { status: "ok" } } });
});

test("a system message to a conversation and to everyone is heard by those concerned, and counted in the report", async () => {
  await using bob = await listenAs("bob", "--json", "--count", "2");
  const toAll = toUsers.slice(0, -1);
  expect((await run([...toAll, "--to-conversation", "welcome", "--id", "to welcome"])).code).toBe(0);
  expect((await run([...toAll, "--everyone", "--id", "to all"])).code).toBe(0);
  expect(await nextEvent(bob)).toMatchObject({ system_message: { _id: "to welcome", cid: "welcome" } });
  expect(await nextEvent(bob)).toMatchObject({ system_message: { _id: "to all", from: "alice" } });
  const { stdout } = await run(["report", "system", "--org", "demo", "to welcome"]);
  expect(stdout).toContain("of 3 users");
  for (const recipients of [[], ["--to", "bob", "--everyone"], ["--to-conversation", "welcome", "--everyone"]]) {
    const { code, stderr } = await run([...toAll, ...recipients]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("one of --to, --to-conversation and --everyone")]);
  }
});

test("a silent message and a silent system message are heard as such", async () => {
  await using bob = await listenAs("bob", "--json", "--count", "2");
  expect((await run([...toWelcome, "--silent", "quiet"])).code).toBe(0);
  expect((await run([...toUsers, "bob", "--silent"])).code).toBe(0);
  expect(await nextEvent(bob)).toMatchObject({ message: { body: "quiet", silent: true } });
  expect(await nextEvent(bob)).toMatchObject({ system_message: { from: "alice", silent: true } });
});

test("what became of a message and a system message is told, for each user", async () => {
  await using bob = await listenAs("bob", "--json", "--count", "2");
  const sent = await run([...toWelcome, "--json", "Hello"]);
  const { server_mid } = JSON.parse(sent.stdout).ask;
  expect((await run([...toUsers, "bob,carol,nobody", "--id", "told"])).code).toBe(0);
  expect([await bob.exited]).toEqual([0]);
  const delivered = (...args: string[]) =>
    eventually(async () => {
      const { stdout } = await run(["report", ...args, "--org", "demo"]);
      return stdout.includes("delivered to 1 of 3 users, on 1 connections") ? stdout : undefined;
    }, "the report");
  const ofMessage = await delivered("message", server_mid);
  for (const part of [`${server_mid}  alice to welcome`, "acknowledged by 0", "first 20"])
    expect(ofMessage).toContain(part);
  const ofSystem = await delivered("system", "told", "--from", "alice");
  for (const part of ["told  from alice", "delivered  bob", "offline    carol", "unknown    nobody"])
    expect(ofSystem).toContain(part);
  const json = JSON.parse((await run(["report", "system", "--org", "demo", "told", "--json"])).stdout);
  expect(json.delivery.by_user).toEqual({ bob: "delivered", carol: "offline", nobody: "unknown" });
  const missing = await run(["report", "message", "--org", "demo", "nothing"]);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("404 message_not_found")]);
});

test("a read is heard by the author, up to the message given or to the end, and nobody hears it again", async () => {
  const sent = await run([...toWelcome, "--json", "Read me"]);
  const { server_mid } = JSON.parse(sent.stdout).ask;
  await run([...toWelcome, "And me"]);
  await using alice = await listenAs("alice", "--json", "--count", "2");
  const read = ["read", "--org", "demo", "--from", "carol", "--cid", "welcome"];
  expect((await run([...read, "--dry-run"])).stdout).toBe("would tell 1 users, 1 of them online\n");
  const upTo = await run([...read, "--up-to", server_mid]);
  expect(upTo).toMatchObject({ code: 0, stdout: `welcome is read by carol up to ${server_mid}\n` });
  const heard = await nextEvent(alice);
  expect(heard).toMatchObject({ message_read: { cid: "welcome", from: "carol" } });
  expect(heard.message_read.ids.at(-1)).toBe(server_mid);
  expect((await run([...read, "--up-to", server_mid, "--json"])).stdout).toBe('{"success":true}\n');
  expect((await run(read)).stdout).toBe("welcome is read by carol\n");
  expect((await nextEvent(alice)).message_read.ids).toHaveLength(1);
  expect(await alice.exited).toBe(0);
  const refused = await run([...read, "--up-to", "nothing"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("404 message_not_found") });
});

test("who has a message is listed for each recipient, and those who do not have it", async () => {
  await using bob = await listenAs("bob", "--json", "--count", "2");
  const { server_mid } = JSON.parse((await run([...toWelcome, "--json", "Who?"])).stdout).ask;
  expect((await run([...toUsers, "nobody,bob", "--id", "listed"])).code).toBe(0);
  expect([await bob.exited]).toEqual([0]);
  const list = (kind: string, id: string, ...args: string[]) => run(["recipients", kind, id, "--org", "demo", ...args]);
  const table = await eventually(async () => {
    const { stdout } = await list("message", server_mid);
    return stdout.includes("delivered") ? stdout : undefined;
  }, "the delivery");
  expect(table.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^USER {3}STATE {6}DELIVERED {17}ACKNOWLEDGED$/),
    "alice  missing",
    expect.stringMatching(/^bob {4}delivered {2}20\S+Z$/),
    "carol  missing",
  ]);
  const some = await list("message", server_mid, "--state", "missing", "--limit", "1", "--json");
  expect(JSON.parse(some.stdout)).toEqual({
    ...{ uid: "alice", state: "missing", delivered_at: null, acknowledged_at: null },
  });
  expect(some.stderr).toContain("go on with --cursor");
  const system = await list("system", "listed", "--from", "alice", "--all");
  expect(system.stdout).toMatch(/\nnobody {2}missing\nbob {5}delivered/);
  const none = await list("message", server_mid, "--state", "acknowledged");
  expect([none.stdout, none.stderr]).toEqual(["", "No recipient is in the state acknowledged.\n"]);
  const wrong = await list("message", server_mid, "--state", "read");
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("delivered, acknowledged, missing")]);
});

test("a dry run says whom a send would reach, and sends nothing", async () => {
  await using bob = await listenAs("bob", "--json", "--count", "1");
  const message = await run([...toWelcome, "--dry-run", "Not yet"]);
  expect(message).toMatchObject({ code: 0, stdout: "would be sent to 3 users, 1 of them online\n" });
  const system = await run([...toUsers, "bob,nobody", "--dry-run"]);
  expect(system.stdout).toBe("would be sent to 2 users, 1 of them online\nnot users of the organization: nobody\n");
  const json = await run([...toWelcome, "--dry-run", "--json", "Not yet"]);
  expect(JSON.parse(json.stdout)).toEqual({ dry_run: { recipients: 3, online: 1, unknown_users: [] } });
  const refused = await run([
    "send",
    "message",
    "--org",
    "demo",
    "--from",
    "nobody",
    "--to",
    "welcome",
    "--dry-run",
    "x",
  ]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("403 sender_not_participant")]);
  await run([...toWelcome, "Now"]);
  expect((await nextEvent(bob)).message.body).toBe("Now");
});

test("a send can wait for its delivery, and then tells it in words, or as JSON", async () => {
  const message = await run([...toWelcome, "--wait", "2", "anyone?"]);
  expect([message.code, message.stdout]).toEqual([
    0,
    expect.stringMatching(/\n\d of 3 users online, delivered to \d, acknowledged by 0\n$/),
  ]);
  const system = await run([...toUsers, "dave,erin,fay", "--wait", "60", "--json"]);
  const delivery = { recipients: 3, online: 0, delivered: 0, acknowledged: 0 };
  expect(JSON.parse(system.stdout)).toEqual({ ack: { mid: expect.any(String), t: expect.any(Number) }, delivery });
  const refused = await run([...toWelcome, "--wait", "0", "hi"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("at least 1")]);
});

test("the same id again sends nothing twice, and with another text is refused", async () => {
  const [first, second] = [
    await run([...toWelcome, "--id", "twice", "Once"]),
    await run([...toWelcome, "--id", "twice", "Once"]),
  ];
  expect(first.stdout).toMatch(/^stored as \S+ \(mid twice, t \d+\)\n$/);
  expect(second.stdout).toBe(first.stdout);
  const other = await run([...toWelcome, "--id", "twice", "Other"]);
  expect(other.code).toBe(1);
  expect(other.stderr).toContain("409 message_id_conflict");
});

test("a text may come from standard input, byte for byte but one last line break", async () => {
  await using bob = await listenAs("bob", "--json", "--count", "1");
  await run([...toWelcome, "-"], "  one\n\ttwo\n\n");
  expect(await nextEvent(bob)).toMatchObject({ message: { body: "  one\n\ttwo\n" } });
  expect((await run([...toWelcome, "-"], new Uint8Array([0xff]))).code).toBe(2);
});

test.each([
  [[...toWelcome.slice(0, -1), "nowhere", "hi"], "404 conversation_not_found", "herald conversations put"],
  [
    ["send", "message", "--org", "demo", "--from", "mallory", "--to", "welcome", "hi"],
    "403 sender_not_participant",
    "check --from",
  ],
  [["send", "system", "--org", "demo", "--from", "mallory", "--to", "bob"], "404 sender_not_found", "check --from"],
  [["token", "--org", "nowhere", "--user", "bob"], "404 organization_not_found", "check --org"],
  [["listen", "--org", "demo", "--user", "mallory"], "404 user_not_found", "check --user"],
  [[...toWelcome, "--key", "wrong", "hi"], "401 unauthorized", "HERALD_ADMIN_API_KEY"],
  [["listen", "--token", "not.a.token"], "4401", "herald token"],
])("a refusal ends with 1, with the reason and what to do: %j", async (args, reason, nextStep) => {
  const { code, stdout, stderr } = await run(args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(reason);
  expect(stderr).toContain(nextStep);
});

test("a token lets its user listen without a key, and --since shows what was missed", async () => {
  const token = await run(["token", "--org", "demo", "--user", "bob", "--ttl", "60"]);
  expect(token.stderr).toMatch(/^valid until \d{4}-/);
  const before = JSON.parse((await run([...toWelcome, "--json", "before"])).stdout).ask.server_mid;
  await run([...toWelcome, "missed 1"]);
  await run([...toWelcome, "missed 2"]);
  const listen = [
    "listen",
    "--token",
    token.stdout.trim(),
    "--url",
    server.url,
    "--since",
    before,
    "--count",
    "2",
    "--json",
  ];
  const { code, stdout } = await runHerald(listen);
  expect(code).toBe(0);
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).message.body),
  ).toEqual(["missed 1", "missed 2"]);
});

test("the nodes are listed, for people and for programs", async () => {
  const [heading, row, ...others] = (await run(["nodes"])).stdout.trimEnd().split("\n");
  expect(heading).toMatch(/^NODE +NAME +STATE +VERSION +ADDRESS +STARTED +CONNECTIONS +ORGANIZATIONS +LAG +PROBLEMS$/);
  expect(row).toContain(server.url);
  expect(row).toContain("  live  ");
  expect(row).toEndWith("  0 events");
  expect(row?.indexOf(server.url)).toBe(heading?.indexOf("ADDRESS") ?? -1);
  expect(others).toEqual([]);
  expect(JSON.parse((await run(["nodes", "--json"])).stdout)).toMatchObject({ url: server.url, name: null });
});

test("a listener says when its sessions are ended, and ends with 1", async () => {
  await using bob = await listenAs("bob");
  const key = (await Bun.file(`${server.cwd}/data/admin-api-key`).text()).trim();
  const headers = { "Admin-Api-Key": key };
  await fetch(`${server.url}/admin/organizations/demo/users/bob/sessions`, { method: "DELETE", headers });
  expect((await bob.errorLines.next()).value).toContain("the server closed the connection (4403");
  expect(await bob.exited).toBe(1);
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends a listener with 0", async (signal) => {
  await using bob = await listenAs("bob");
  bob.kill(signal);
  expect(await bob.exited).toBe(0);
});

test("a listener outlives a restart of the server and misses nothing", async () => {
  await using first = await startServer();
  const url = first.url;
  const options = { cwd: first.cwd };
  await using bob = startHeraldCommand(
    ["listen", "--org", "demo", "--user", "bob", "--url", url, "--json", "--count", "2"],
    options,
  );
  expect((await bob.errorLines.next()).value).toStartWith("connected to");
  await runHerald([...toWelcome, "--url", url, "before"], options);
  expect(await nextEvent(bob)).toMatchObject({ message: { body: "before" } });
  first.process.kill("SIGTERM");
  expect((await bob.errorLines.next()).value).toMatch(/^connection lost \(1012/);
  await first.process.exited;
  await using again = startHeraldCommand(["serve"], { ...options, env: { HERALD_PORT: new URL(url).port } });
  while (!(await again.lines.next()).value?.includes('"listening"'));
  await runHerald([...toWelcome, "--url", url, "after"], options);
  expect(await nextEvent(bob)).toMatchObject({ message: { body: "after" } });
  expect(await bob.exited).toBe(0);
});
