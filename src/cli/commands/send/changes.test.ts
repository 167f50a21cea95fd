import { afterAll, beforeAll, expect, test } from "bun:test";
import { runHerald, startHeraldCommand, startServer, type TestServer } from "../../testing/run-herald.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (args: string[], stdin = "") => runHerald([...args, "--url", server.url], { cwd: server.cwd, stdin });
const asAlice = ["--org", "demo", "--from", "alice"];

async function send(body: string): Promise<string> {
  const { stdout } = await run(["send", "message", ...asAlice, "--to", "welcome", "--json", body]);
  return JSON.parse(stdout).ask.server_mid;
}

test("an edit and a recall are heard, shown in the report, and can be tried first", async () => {
  const id = await send("first");
  const other = await send("other");
  const command = ["listen", "--org", "demo", "--user", "bob", "--url", server.url, "--json", "--count", "3"];
  await using bob = startHeraldCommand(command, { cwd: server.cwd });
  expect((await bob.errorLines.next()).value).toStartWith("connected to");
  const next = async () => JSON.parse((await bob.lines.next()).value ?? "null");

  const tried = await run(["edit", ...asAlice, "--dry-run", id, "second"]);
  expect(tried).toMatchObject({ code: 0, stdout: "would be sent to 3 users, 1 of them online\n" });
  expect(await run(["edit", ...asAlice, id, "second"])).toMatchObject({
    code: 0,
    stdout: `edited ${id}\n`,
    stderr: "",
  });
  expect((await next()).message_edit).toMatchObject({ id, body: "second", x: {} });
  const again = await run(["edit", ...asAlice, "--x", '{"n":1}', "--json", id, "-"], "third\n");
  expect(JSON.parse(again.stdout)).toEqual({ success: true });
  expect((await next()).message_edit).toMatchObject({ id, body: "third", x: { n: 1 } });
  const edited = await run(["report", "message", "--org", "demo", id]);
  expect(edited.stdout).toMatch(/ {2}edited \d{4}-\S+Z; 0 had acknowledged it before\n/);

  const recall = ["recall", "--org", "demo", "--from", "carol", "--cid", "welcome"];
  expect((await run([...recall, "--dry-run", id])).stdout).toBe("would be sent to 3 users, 1 of them online\n");
  expect(await run([...recall, id, other])).toMatchObject({ code: 0, stdout: "took back 2 messages\n", stderr: "" });
  expect((await next()).message_delete).toMatchObject({ ids: [id, other], cid: "welcome", from: "carol" });
  expect((await run([...recall, await send("alone")])).stdout).toBe("took back a message\n");
  const gone = await run(["report", "message", "--org", "demo", id]);
  expect(gone.stdout).toMatch(/ {2}taken back \d{4}-\S+Z; 0 had acknowledged it before\n/);
});

test("messages are hidden from one user, whose connections alone hear it", async () => {
  const id = await send("too much");
  const command = ["listen", "--org", "demo", "--user", "bob", "--url", server.url, "--count", "1"];
  await using bob = startHeraldCommand(command, { cwd: server.cwd });
  expect((await bob.errorLines.next()).value).toStartWith("connected to");
  const hide = ["recall", "--org", "demo", "--from", "bob", "--cid", "welcome", "--myself", id];
  expect((await run([...hide, "--dry-run"])).stdout).toBe("would be sent to 1 users, 1 of them online\n");
  expect(await run(hide)).toMatchObject({ code: 0, stdout: "hid a message\n", stderr: "" });
  expect((await bob.lines.next()).value).toContain("hidden by  bob");
  const there = await run(["report", "message", "--org", "demo", id]);
  expect(there.stdout).not.toContain("taken back");
  const wrong = ["recall", ...asAlice, "--system", "--myself", "paid"];
  expect(await run(wrong)).toMatchObject({ code: 2, stderr: expect.stringContaining("Give --cid") });
});

test("a recall of system messages is heard and shown in the report", async () => {
  const command = ["listen", "--org", "demo", "--user", "bob", "--url", server.url, "--json", "--count", "2"];
  await using bob = startHeraldCommand(command, { cwd: server.cwd });
  expect((await bob.errorLines.next()).value).toStartWith("connected to");
  await run(["send", "system", ...asAlice, "--to", "bob", "--id", "paid"]);
  const recall = ["recall", ...asAlice, "--system", "paid"];
  expect((await run([...recall, "--dry-run"])).stdout).toBe("would be sent to 1 users, 1 of them online\n");
  expect((await run(recall)).stdout).toBe("took back a system message\n");
  await bob.lines.next();
  const heard = JSON.parse((await bob.lines.next()).value ?? "null");
  expect(heard.system_message_delete).toMatchObject({ ids: ["paid"], from: "alice" });
  const report = await run(["report", "system", "--org", "demo", "paid"]);
  expect(report.stdout).toMatch(/ {2}taken back \d{4}-\S+Z; 0 had acknowledged it before\n/);
  for (const wrong of [
    [...recall, "--cid", "welcome"],
    ["recall", ...asAlice, "paid"],
  ])
    expect(await run(wrong)).toMatchObject({ code: 2, stderr: expect.stringContaining("Give --cid") });
});

test("who types is told to the others who are online", async () => {
  const typing = ["typing", ...asAlice, "--cid", "welcome"];
  expect(await run(typing)).toMatchObject({ code: 0, stdout: "told that alice is typing in welcome\n", stderr: "" });
  const stopped = await run([...typing, "--stop", "--json"]);
  expect(JSON.parse(stopped.stdout)).toEqual({ success: true });
  const refused = await run(["typing", "--org", "demo", "--from", "alice", "--cid", "nowhere"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("404 conversation_not_found") });
});

test("a refusal says why, and what to do", async () => {
  const id = await send("mine");
  const refused = async (args: string[], ...parts: string[]) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(1);
    for (const part of parts) expect(stderr).toContain(part);
  };
  await refused(["edit", "--org", "demo", "--from", "bob", id, "x"], "403 sender_not_owner", "--from");
  await refused(["edit", ...asAlice, "nothing", "x"], "404 message_not_found");
  await refused(["recall", ...asAlice, "--cid", "welcome", id, "nothing"], "404 message_not_found");
  await refused(["recall", ...asAlice, "--cid", "nowhere", id], "404 conversation_not_found");
});
