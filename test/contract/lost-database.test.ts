import { expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../harness/deadline.ts";
import { errorsLogged, type Herald, runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(60_000);

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

test("so does one whose database file is replaced by a backup, or whose write-ahead log is gone", async () => {
  for (const replace of [moveBackupOver, (file: string) => rmSync(`${file}-wal`)]) {
    const { node, send, file } = await startSending();
    await using _ = node;
    expect(await send("early")).toBe(201);
    replace(file);
    await expectLost(node, send);
  }
});

function moveBackupOver(file: string): void {
  copyFileSync(file, `${file}.backup`);
  renameSync(`${file}.backup`, file);
}

test("a start on files that are no database, or a mix of two, ends with one line that names the folder and what to do", async () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-lost-"));
  const file = join(folder, "herald.db");
  try {
    writeFileSync(file, "not a database".repeat(1_000));
    const { code, stderr, stdout } = await runHerald(["serve"], { HERALD_DATA_DIR: folder, HERALD_PORT: "0" });
    expect(code).not.toBe(0);
    const said = `${stdout}${stderr}`.trim();
    expect(said).toContain(folder);
    expect(said).toContain("herald restore");
    expect(said).not.toMatch(/report it|\n {4}at /);
    expect(existsSync(file)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
