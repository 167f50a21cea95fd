import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../harness/engines/free-port.ts";
import { runHerald, startHerald } from "../harness/servers/herald.ts";

type Finding = { subject: string; state: string; detail: string; advice?: string };

async function examine(env: Record<string, string>): Promise<{ code: number; stderr: string; findings: Finding[] }> {
  const { code, stdout, stderr } = await runHerald(["doctor", "--json"], env);
  const findings = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Finding => JSON.parse(line));
  for (const { state, advice } of findings) expect(advice === undefined).toBe(state === "ok");
  return { code, stderr, findings };
}

function emptyFolder() {
  const path = mkdtempSync(join(tmpdir(), "herald-doctor-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

describe("herald doctor", () => {
  test("finds nothing wrong with a running server on SQLite, and changes nothing", async () => {
    await using herald = await startHerald({ key: null, env: { HERALD_PORT: String(freePort()) } });
    const { code, findings } = await examine({
      HERALD_DATA_DIR: herald.dataDir,
      HERALD_PORT: new URL(herald.url).port,
    });
    expect(code).toBe(0);
    const details = new Map(findings.map(({ subject, detail }) => [subject, detail]));
    expect(findings.filter(({ state, subject }) => state === "failure" && subject !== "disk")).toEqual([]);
    expect(details.get("address")).toBe(`Herald answers on ${herald.url}`);
    expect(details.get("schema")).toContain("up to date");
    expect(details.get("secrets")).toBe("only their owner can read them");
    expect(details.get("files")).toStartWith(join(herald.dataDir, "files"));
  });

  test("says what is wrong and what to do, and ends with 1", async () => {
    using folder = emptyFolder();
    using taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("something else") });
    const key = join(folder.path, "admin-api-key");
    await Bun.write(key, "x");
    chmodSync(key, 0o644);
    const { code, stderr, findings } = await examine({
      HERALD_DATA_DIR: folder.path,
      HERALD_PORT: String(taken.port),
      HERALD_DATABASE_URL: `postgres://herald@127.0.0.1:${freePort()}/herald`,
      HERALD_BUS_URL: `nats://127.0.0.1:${freePort()}`,
      HERALD_FILES_URL: "s3://bucket",
      HERALD_FILES_S3_ENDPOINT: `http://127.0.0.1:${freePort()}`,
      HERALD_FILES_S3_ACCESS_KEY_ID: "id",
      HERALD_FILES_S3_SECRET_ACCESS_KEY: "secret",
      HERALD_TLS_CERT: "/nowhere/cert.pem",
      HERALD_TLS_KEY: "/nowhere/key.pem",
      HERALD_ALLOWED_ORIGINS: "*",
    });
    expect(code).toBe(1);
    expect(stderr).toContain("6 things need to be fixed");
    const states = Object.fromEntries(findings.map(({ subject, state }) => [subject, state]));
    expect(states).toMatchObject({
      secrets: "failure",
      cluster: "warning",
      database: "failure",
      bus: "failure",
      files: "failure",
      address: "failure",
      certificate: "failure",
      origins: "warning",
    });
  });

  test("prints a line for each finding for people", async () => {
    using folder = emptyFolder();
    const settings = { HERALD_DATA_DIR: folder.path, HERALD_PORT: String(freePort()), HERALD_ALLOWED_ORIGINS: "*" };
    const { stdout } = await runHerald(["doctor"], settings);
    expect(stdout).toContain(`ok    data folder  ${folder.path}`);
    expect(stdout).toContain("ok    database     there is none yet; the first start creates it");
    expect(stdout).toMatch(/warn {2}origins +pages of every origin may connect\n +→ list the origins/);
  });
});

describe("herald upgrade --check", () => {
  test("tells what is due without doing it, and upgrade does it", async () => {
    using folder = emptyFolder();
    const env = { HERALD_DATA_DIR: folder.path };
    expect((await runHerald(["migrate"], env)).code).toBe(0);
    const check = async () => JSON.parse((await runHerald(["upgrade", "--check", "--json"], env)).stdout);
    const { known } = await check();
    expect(await check()).toEqual({ version: known, known, pending: [], keepsOlder: true, isTooNew: false });
    const database = new Database(join(folder.path, "herald.db"));
    database.run("DELETE FROM schema_step WHERE migration = ?", [known]);
    expect(await check()).toMatchObject({ version: known - 1, pending: [expect.any(String)] });
    expect((await runHerald(["upgrade", "--check"], env)).stdout).toContain(`An upgrade to ${known} runs:`);
    expect(await check()).toMatchObject({ version: known - 1 });
    database.run("UPDATE schema_version SET version = 999");
    database.close();
    const tooNew = await runHerald(["upgrade", "--check"], env);
    expect(tooNew).toMatchObject({ code: 1, stdout: "" });
    expect(tooNew.stderr).toContain("a newer version of Herald has migrated the database");
  });

  test("an empty folder has nothing to upgrade", async () => {
    using folder = emptyFolder();
    mkdirSync(join(folder.path, "data"));
    const { code, stdout } = await runHerald(["upgrade", "--check"], { HERALD_DATA_DIR: join(folder.path, "data") });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "There is no database yet; the first start creates it.\n" });
  });
});
