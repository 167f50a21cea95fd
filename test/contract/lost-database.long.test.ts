import { expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { eventually } from "../harness/deadline.ts";
import { errorsLogged, type Herald, runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

/** The commands that open the database. */
const commands = [["serve"], ["upgrade", "--check"], ["migrate"], ["backup", join(tmpdir(), "no-backup")]];

type Health = { checks: Record<string, string> };

async function startSending() {
  const node = await startHerald();
  const org = await createOrganization(node);
  const cid = await org.conversation(["alice"]);
  const send = async (body: string) => (await org.send("alice", { cid, body })).status;
  return { node, send, file: join(node.dataDir, "herald.db") };
}

/** Expects that the node refuses what it cannot keep, is not ready, and says so once. */
async function expectLost(node: Herald, send: (body: string) => Promise<number>) {
  const statuses = await Promise.all(Array.from({ length: 20 }, (_, index) => send(`late ${index}`)));
  expect(statuses).toEqual(Array(20).fill(503));
  const store = await eventually(async () => {
    const { status, body } = await node.http<Health>("GET", "/readyz");
    return status === 503 ? body.checks.store : undefined;
  }, "the node not to be ready");
  expect(store).toContain("its files");
  expect((await node.http("GET", "/healthz")).status).toBe(200);
  await node.stop();
  const told = node.logLines().filter(({ dependency }) => dependency === "database");
  expect(told.map(({ level }) => level)).toEqual([40]);
  expect(told[0]?.msg).toContain("HERALD_DATA_DIR");
  expect(errorsLogged(node)).toEqual([]);
}

test("a node whose database files are removed stores nothing more, and answers no send with 201", async () => {
  const { node, send, file } = await startSending();
  await using _ = node;
  expect(await send("early")).toBe(201);
  for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`);
  await expectLost(node, send);
});

test("so does one whose database file is replaced by a backup, moved or copied, or whose write-ahead log is gone", async () => {
  for (const replace of [moveBackupOver, copyBackupOver, (file: string) => rmSync(`${file}-wal`)]) {
    const { node, send, file } = await startSending();
    await using _ = node;
    expect(await send("early")).toBe(201);
    await replace(file);
    await expectLost(node, send);
  }
});

async function copyBackupOver(file: string): Promise<void> {
  const backup = `${file}.backup`;
  expect((await runHerald(["backup", backup], { HERALD_DATA_DIR: dirname(file) })).code).toBe(0);
  copyFileSync(backup, file);
}

function moveBackupOver(file: string): void {
  copyFileSync(file, `${file}.backup`);
  renameSync(`${file}.backup`, file);
}

test("a file that is no database ends each command with one line that names the folder and what to do", async () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-lost-"));
  const file = join(folder, "herald.db");
  try {
    writeFileSync(file, "not a database".repeat(1_000));
    for (const args of commands) {
      const line = await refusalOf(args, folder);
      for (const part of [folder, "herald restore"]) expect(line).toContain(part);
    }
    expect((await databaseFinding(folder)).advice).toContain("herald restore");
    expect(existsSync(file)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** A folder in which a killed node left a non-empty write-ahead log, and a backup made before its last sends. */
async function startKilledWithBackup() {
  await using starting = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "herald-lost-"));
  starting.defer(() => rmSync(folder, { recursive: true }));
  const [file, backup] = [join(folder, "herald.db"), join(folder, "backup")];
  const node = starting.use(await startHerald({ dataDir: folder }));
  const org = await createOrganization(node);
  const cid = await org.conversation(["alice"]);
  const send = async (body: string) => (await org.send("alice", { cid, body })).status;
  expect(await send("early")).toBe(201);
  expect((await runHerald(["backup", backup], { HERALD_DATA_DIR: folder })).code).toBe(0);
  for (let index = 0; index < 5; index++) expect(await send(`late ${index}`)).toBe(201);
  await node.kill();
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
  const bodies = async (on: Herald) => {
    const path = org.path("conversations", cid, "messages");
    return (await on.admin<{ items: { body: string }[] }>("GET", path)).body.items.map(({ body }) => body);
  };
  const all = starting.move();
  return { folder, file, backup, bodies, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The only line of a command that refuses. */
async function refusalOf(args: string[], folder: string): Promise<string> {
  const { code, stdout, stderr } = await runHerald(args, { HERALD_DATA_DIR: folder, HERALD_PORT: "0" });
  expect(code).not.toBe(0);
  const lines = `${stdout}${stderr}`.trim().split("\n");
  expect(lines).toHaveLength(1);
  return lines[0] ?? "";
}

/** What `herald doctor` finds out about the database. */
async function databaseFinding(folder: string): Promise<{ subject: string; state: string; advice: string }> {
  const { stdout } = await runHerald(["doctor", "--json"], { HERALD_DATA_DIR: folder, HERALD_PORT: "0" });
  const findings = stdout.trim().split("\n");
  return findings.map((line) => JSON.parse(line)).find(({ subject }) => subject === "database");
}

test.each([
  ["copied", copyFileSync, commands],
  ["moved", renameSync, [["serve"]]],
] as const)(
  "a backup %s over herald.db while the write-ahead log of the database before stays beside it is not touched",
  async (_how, put, refused) => {
    await using stage = await startKilledWithBackup();
    const { folder, file, backup, bodies } = stage;
    put(backup, file);
    const before = await Bun.file(file).bytes();
    for (const args of refused) {
      const line = await refusalOf([...args], folder);
      for (const part of [folder, "herald.db-wal", "herald.db-shm", "remove"]) expect(line).toContain(part);
    }
    const found = await databaseFinding(folder);
    expect(found.state).toBe("failure");
    expect(found.advice).toContain("remove");
    expect(await Bun.file(file).bytes()).toEqual(before);

    for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`); // as advised
    for (let start = 0; start < 2; start++) {
      await using node = await startHerald({ dataDir: folder });
      expect(await bodies(node)).toEqual(["early"]);
      await node.kill(); // so that its own write-ahead log stays
    }
  },
);
