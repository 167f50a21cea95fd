import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../harness/deadline.ts";
import { useEngines } from "../../harness/engines.ts";
import { LIFTED, startTraffic } from "../../harness/reading/persistence.ts";
import {
  type Herald,
  runHerald,
  startHerald,
  TEST_KEY,
  TEST_TOKEN_SECRET,
  typedCommand,
} from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const count = 3;
const clients = 30;

function workersOf(herald: Herald): number[] {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(herald.pid)], { encoding: "utf8" });
  return stdout
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(Number);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const timesLogged = (herald: Herald, message: string) => herald.logLines().filter(({ msg }) => msg === message).length;

const trafficOn = async (herald: Herald) =>
  startTraffic(await createOrganization(herald), { urls: [herald.url], clients, senders: 6 });

type Settings = Record<string, string>;

/** Tests workers. `settingsOf` returns the settings that connect them, for a database of their own. */
function describeWorkers(name: string, settingsOf: () => Promise<Settings>): void {
  const start = async (options: { key?: null; env?: Settings } = {}) =>
    startHerald({
      ...options,
      args: ["--workers", String(count)],
      env: { ...LIFTED, ...(await settingsOf()), ...options.env },
    });

  describe(`herald serve --workers ${name}`, () => {
    test("restarts a worker that was killed; nothing acknowledged is lost, and SIGTERM stops all of them", async () => {
      await using herald = await start();
      const workers = workersOf(herald);
      expect(workers).toHaveLength(count);
      const traffic = await trafficOn(herald);
      await traffic.more();
      const [victim = 0] = workers;
      process.kill(victim, "SIGKILL");
      await eventually(() => traffic.closeCodes().length > 0 || undefined, "clients that were on the killed worker");
      await traffic.more();
      await eventually(() => timesLogged(herald, "worker listening") === count + 1 || undefined, "the new worker");
      expect(herald.logLines()).toContainEqual(
        expect.objectContaining({
          worker: 1,
          pid: victim,
          code: 137,
          msg: "a worker exited unexpectedly and will be restarted",
        }),
      );
      const now = workersOf(herald);
      expect(now).toHaveLength(count);
      expect(now).not.toContain(victim);
      await traffic.expectNothingLost();
      await herald.stop();
      expect(now.filter(isAlive)).toEqual([]);
    });

    test("replaces its workers one by one at SIGUSR2, and no client misses anything", async () => {
      await using herald = await start();
      const before = workersOf(herald);
      const traffic = await trafficOn(herald);
      await traffic.more();
      process.kill(herald.pid, "SIGUSR2");
      await eventually(() => timesLogged(herald, "replaced") === 1 || undefined, "all workers to be replaced");
      const after = workersOf(herald);
      expect(after).toHaveLength(count);
      expect(after.filter((pid) => before.includes(pid))).toEqual([]);
      await traffic.more();
      // Each client was on a worker that was replaced, and may have returned to one that was replaced later.
      expect(traffic.closeCodes().length).toBeWithin(clients, clients * count + 1);
      await traffic.expectNothingLost();
      expect(herald.logs()).not.toContain("a worker exited unexpectedly");
      await herald.stop();
    });

    test("prints the address, the key and the demo once, and creates the secrets once", async () => {
      const settings = await settingsOf();
      await using herald = await start({ key: null, env: { ...settings, HERALD_DEMO: "1" } });
      expect(timesLogged(herald, "listening")).toBe(1);
      const advice = herald.logs().split("generated secrets that nodes with another data folder").length - 1;
      expect(advice).toBe(settings.HERALD_BUS_URL === undefined ? 0 : 1);
      const key = readFileSync(join(herald.dataDir, "admin-api-key"), "utf8").trim();
      await eventually(() => herald.logs().includes("Documentation") || undefined, "the welcome");
      expect(herald.logs()).not.toContain(key);
      expect(herald.logs()).toContain(join(herald.dataDir, "admin-api-key"));
      expect(herald.logs().split(`${typedCommand} listen`)).toHaveLength(2);
      // Every worker accepts the key, and tokens signed by any of them.
      const headers = { "Admin-Api-Key": key, "Content-Type": "application/json" };
      for (let turn = 0; turn < 20; turn += 1) {
        const init = { headers: { ...headers, Connection: "close" }, body: "{}" };
        const { status, body } = await herald.http<{ token: string }>(
          "POST",
          "/admin/organizations/demo/users/bob/tokens",
          init,
        );
        expect(status).toBe(201);
        const stream = await fetch(`${herald.url}/sse`, { headers: { Authorization: `Bearer ${body.token}` } });
        expect(stream.status).toBe(200);
        await stream.body?.cancel();
      }
      await herald.stop();
    });

    test("ends its workers when it is killed itself, and frees the port", async () => {
      await using herald = await start();
      const workers = workersOf(herald);
      await herald.kill();
      await eventually(() => !workers.some(isAlive) || undefined, "the workers to end");
      const { port } = new URL(herald.url);
      await using again = await start({ env: { HERALD_PORT: port } });
      expect(again.url).toBe(herald.url);
      await again.stop();
    });

    test.each(["2", "1"])(
      "has its port to itself: another Herald with --workers %s is told that it is taken",
      async (workers) => {
        await using herald = await start();
        const folder = mkdtempSync(join(tmpdir(), "herald-workers-"));
        const { code, stdout, stderr } = await runHerald(["serve", "--workers", workers], {
          HERALD_PORT: new URL(herald.url).port,
          HERALD_DATA_DIR: folder,
          ...(await settingsOf()),
        });
        rmSync(folder, { recursive: true });
        expect({ code, listening: stdout.includes("listening") }).toEqual({ code: 1, listening: false });
        expect(stderr).toStartWith(`herald: port ${new URL(herald.url).port} on 127.0.0.1 is already in use.`);
        await herald.stop();
      },
    );
  });
}

describeWorkers("on the embedded database", async () => ({}));

describe("herald serve --workers on the embedded database", () => {
  const start = (options: { dataDir?: string } = {}) =>
    startHerald({ ...options, args: ["--workers", String(count)], env: LIFTED });

  test("starts again after it was killed, with all that it had", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "herald-workers-"));
    {
      await using herald = await start({ dataDir });
      const traffic = await trafficOn(herald);
      await traffic.more();
      await traffic.expectNothingLost();
      await herald.kill();
    }
    await using again = await start({ dataDir });
    const { status, body } = await again.http<{ items: unknown[] }>("GET", "/admin/organizations", {
      headers: { "Admin-Api-Key": TEST_KEY },
    });
    expect({ status, organizations: body.items.length }).toEqual({ status: 200, organizations: 1 });
    await again.stop();
    rmSync(dataDir, { recursive: true });
  });

  test("refuses a folder that another Herald uses", async () => {
    await using herald = await start();
    const { code, stdout, stderr } = await runHerald(["serve", "--workers", "2"], {
      HERALD_PORT: "0",
      HERALD_DATA_DIR: herald.dataDir,
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      `herald: HERALD_DATA_DIR ${herald.dataDir} is in use by another Herald process; stop that process, or set another folder\n`,
    );
    await herald.stop();
  });
});

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;
  describeWorkers("on PostgreSQL and NATS", async () => ({
    HERALD_DATABASE_URL: await postgres.createDatabase(),
    HERALD_BUS_URL: nats.url,
  }));

  describe("herald serve --workers", () => {
    test("ends at once with the reason if a worker cannot start", async () => {
      const folder = mkdtempSync(join(tmpdir(), "herald-workers-"));
      const { code, stdout, stderr } = await runHerald(["serve", "--workers", "2"], {
        HERALD_PORT: "0",
        HERALD_DATA_DIR: folder,
        HERALD_ADMIN_API_KEY: TEST_KEY,
        HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
        HERALD_DATABASE_URL: "postgres://herald@127.0.0.1:1/none",
        HERALD_BUS_URL: nats.url,
      });
      rmSync(folder, { recursive: true });
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(/^herald: HERALD_DATABASE_URL: [^\n]+\nherald: a worker failed to start[^\n]*\n$/);
    });
  });
}
