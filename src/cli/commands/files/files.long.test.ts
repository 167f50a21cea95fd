import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine, runHerald, startServer, type TestServer } from "../../testing/run-herald.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ HERALD_DEMO: "1" });
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...args: string[]) => runHerald([...args, "--url", server.url], { cwd: server.cwd });
const photo = join(mkdtempSync(join(tmpdir(), "herald-cli-files-")), "a photo.png");
const bytes = new Uint8Array(300_000).map((_, index) => index % 251);
writeFileSync(photo, bytes);

test("what an upload prints is the attachment of a send, and its file is shown, downloaded and deleted", async () => {
  const uploaded = await run("files", "upload", photo, "--org", "demo");
  expect(uploaded).toMatchObject({ code: 0, stderr: "a file that no message names within 24 h is removed\n" });
  const attachment = uploaded.stdout.trim();
  expect(attachment).toMatch(/^a photo\.png:300000:image\/png:[0-9a-f-]{36}$/);
  const id = attachment.split(":").at(-1) ?? "";

  const message = ["send", "message", "--org", "demo", "--from", "alice", "--to", "welcome", "Look"];
  expect((await run(...message, "--attachment", attachment)).code).toBe(0);
  const shown = await run("files", "get", id, "--org", "demo");
  expect(shown.stdout).toStartWith(`${id}\n  name  a photo.png\n  size  300000 bytes\n  type  image/png\n  sha256  `);

  const copy = `${photo}.copy`;
  expect(await run("files", "download", id, copy)).toEqual({ code: 0, stdout: "", stderr: `stored ${copy}\n` });
  expect(new Uint8Array(readFileSync(copy))).toEqual(bytes);
  const target = Bun.file(`${photo}.piped`);
  const { command, env, cwd } = commandLine(["files", "download", id, "--url", server.url], { cwd: server.cwd });
  expect(await Bun.spawn(command, { env, cwd, stdout: target, stderr: "ignore" }).exited).toBe(0);
  expect(await target.bytes()).toEqual(bytes);

  expect(await run("files", "delete", id, "--org", "demo")).toEqual({ code: 0, stdout: `deleted ${id}\n`, stderr: "" });
  const gone = await run("files", "download", id, copy);
  expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining("file_not_found") });
});

test("bytes are stored for the file that a send announced", async () => {
  const send = ["send", "message", "--org", "demo", "--from", "alice", "--to", "welcome", "Soon"];
  const sent = await run(...send, "--attachment", "later.txt:5:text/plain", "--json");
  const { server_mid: mid } = JSON.parse(sent.stdout).ask;
  const report = JSON.parse((await run("report", "message", mid, "--org", "demo", "--json")).stdout);
  const id: string = report.message.attachments[0].file_id;
  expect((await run("files", "get", id, "--org", "demo")).stdout).toContain("none, as its bytes are not uploaded yet");
  const stored = await run("files", "upload", photo, "--org", "demo", "--as", id, "--type", "text/plain");
  expect(stored).toMatchObject({ code: 0, stderr: "" });
  expect(stored.stdout).toEndWith(`:300000:text/plain:${id}\n`);
});

test("a path without a file, and a folder that is missing, are told", async () => {
  const nothing = await run("files", "upload", "nothing.png", "--org", "demo");
  expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining("nothing.png is no file") });
  const uploaded = await run("files", "upload", photo, "--org", "demo", "--json");
  const { file_id: id } = JSON.parse(uploaded.stdout);
  const written = await run("files", "download", id, "/nonexistent/photo.png");
  expect(written).toMatchObject({ code: 1, stderr: expect.stringContaining("could not be written: ENOENT") });
});

test("a download that breaks off says so, and leaves what was there", async () => {
  using cutting = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.end("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf of it");
      },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "herald-cli-cut-"));
  const target = join(folder, "notes.txt");
  writeFileSync(target, "before");
  const access = ["--url", `http://127.0.0.1:${cutting.port}`, "--key", "k".repeat(32)];
  const cut = await runHerald(["files", "download", "f", target, ...access], { cwd: server.cwd });
  expect(cut).toMatchObject({
    code: 3,
    stdout: "",
    stderr: expect.stringContaining("broke off; run the command again"),
  });
  expect([readFileSync(target, "utf8"), readdirSync(folder)]).toEqual(["before", ["notes.txt"]]);
});

test("a file whose id several organizations have is downloaded from the one that is named", async () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-cli-same-id-"));
  const lines = join(folder, "past.ndjson");
  const attachments = [{ name: "same.txt", file_id: "same" }];
  const created_at = "2024-01-01T00:00:00Z";
  const past = [
    { conversation: { id: "c", participants: ["alice"] } },
    { message: { id: "past", cid: "c", senderId: "alice", body: "", attachments, created_at } },
  ];
  writeFileSync(lines, past.map((line) => `${JSON.stringify(line)}\n`).join(""));
  for (const org of ["one", "two"]) {
    expect((await run("orgs", "put", org)).code).toBe(0);
    expect((await run("import", lines, "--org", org)).code).toBe(0);
    writeFileSync(join(folder, `${org}.txt`), `of ${org}`);
    expect((await run("files", "upload", join(folder, `${org}.txt`), "--org", org, "--as", "same")).code).toBe(0);
  }
  const ambiguous = await run("files", "download", "same");
  expect(ambiguous).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("with --org") });
  for (const org of ["one", "two"])
    expect(await run("files", "download", "same", "--org", org)).toEqual({
      code: 0,
      stdout: `of ${org}\n`,
      stderr: "",
    });
});
