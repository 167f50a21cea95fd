import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "../../src/lib/text/ids.ts";
import { migrateStore } from "../../src/store/migrate.ts";
import { connectPostgres } from "../../src/store/postgres/postgres.ts";
import type { Driver } from "../../src/store/sql/driver.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { messageOf } from "../../src/store/testing/log-suite.ts";
import { createTestStore } from "../../src/store/testing/test-store.ts";
import type { Message, Page } from "../harness/clients/wire.ts";
import { eventually } from "../harness/deadline.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { readMetrics, sampleOf } from "../harness/reading/metrics.ts";
import { type Herald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const dayMs = 24 * 3600 * 1000;
const old = 3_000;
const recent = 20;
const readAgainMs = 70_000; // what is read for metrics is read again within a minute, later than 5 s only if reading took long

/** Messages of `alice` to `bob` in the conversation `c1` of `o1`: many a hundred days old, some of today. */
async function fill(driver: Driver): Promise<{ oldest: string; lastOld: string; firstRecent: string }> {
  await migrateStore(driver);
  const store = createTestStore(driver);
  await store.organizations.put("o1", undefined, 1);
  await store.conversations.put("o1", "c1", { participants: ["alice", "bob"] }, 1);
  const now = Date.now();
  const ids: string[] = [];
  for (let index = 0; index < old + recent; index++) {
    const createdAt = index < old ? now - 100 * dayMs + index : now - 60_000 + index;
    const id = createId(createdAt);
    ids.push(id);
    const message = {
      _id: id,
      t: 1,
      from: "alice",
      body: `${index}`,
      cid: "c1",
      x: {},
      attachments: [],
      created_at: "",
    };
    const payload = JSON.stringify({ message });
    void store.sends.append(messageOf("o1", { id, createdAt, sender: "alice", mid: `m${index}`, payload }));
  }
  await store.sends.append(messageOf("o1", { sender: "alice" }));
  await driver.close();
  const [oldest = "", lastOld = "", firstRecent = ""] = [ids[0], ids[old - 1], ids[old]];
  return { oldest, lastOld, firstRecent };
}

function describeServer(
  engine: string,
  prepare: () => Promise<{ driver: Driver; env: Record<string, string>; dataDir: string }>,
) {
  describe(`a server on ${engine} that removes expired data`, () => {
    let herald: Herald;
    let filled: Awaited<ReturnType<typeof fill>>;
    let dataDir: string;
    let firstWait: Promise<number>;

    /** How long the oldest job of this kind has been waiting, once that meets a condition. */
    const waitOf = (kind: string, isThere: (seconds: number) => boolean) =>
      eventually(
        async () => {
          const { samples } = readMetrics((await herald.http<string>("GET", "/metrics")).text);
          const seconds = sampleOf(samples, "herald_oldest_job_age_seconds", { kind });
          return seconds !== undefined && isThere(seconds) ? seconds : undefined;
        },
        `the wait of ${kind}`,
        readAgainMs,
      );

    beforeAll(async () => {
      const prepared = await prepare();
      dataDir = prepared.dataDir;
      filled = await fill(prepared.driver);
      const env = { HERALD_RETENTION_MESSAGES_DAYS: "30", HERALD_RETENTION_IDS_DAYS: "1", ...prepared.env };
      herald = await startHerald({ dataDir, env });
      firstWait = waitOf("messages", () => true);
    });
    afterAll(async () => {
      await herald.stop();
      rmSync(dataDir, { recursive: true });
    });

    test("keeps accepting messages and delivering them, all in order, meanwhile", async () => {
      const org = await createOrganization(herald, "o1");
      const socket = await org.socket("bob");
      let sent = 0;
      while (!herald.logs().includes("removed expired data")) {
        await org.sent("alice", { id: `while-${sent}`, cid: "c1", body: `while ${sent}` });
        sent++;
      }
      expect(sent).toBeGreaterThanOrEqual(20); // removing thousands of messages takes hundreds of milliseconds
      await org.expectNothingElseAfter(
        socket,
        Array.from({ length: sent }, (_, index) => `while ${index}`),
      );
    });

    test("shows a history that ends where it now begins, and says that older messages do not exist", async () => {
      const org = await createOrganization(herald, "o1");
      const history = await eventually(async () => {
        const messages = await org.history("c1");
        return messages.some(({ _id: id }) => id === filled.lastOld) ? undefined : messages;
      }, "the old messages to be gone");
      expect(history.at(-1)?._id).toBe(filled.firstRecent);
      const from = org.path("conversations", "c1", "messages");
      expectProblem(await herald.admin("GET", `${from}?before=${filled.oldest}`), 404, "message_not_found");
      const first = await herald.admin<Page<Message>>("GET", `${from}?before=${filled.firstRecent}`);
      expect(first.body).toEqual({ items: [], cursor: null });
    });

    test("says in its metrics how long the oldest of it had been waiting, and that nothing waits any more", async () => {
      expect(((await firstWait) * 1000) / dayMs).toBeWithin(69.9, 70.1); // a hundred days old, to be kept for 30
      expect(await waitOf("messages", (seconds) => seconds === 0)).toBe(0);
      expect(await waitOf("ids", (seconds) => seconds === 0)).toBe(0);
    });

    test("recovers what it kept, and says so if it cannot", async () => {
      const org = await createOrganization(herald, "o1");
      expect((await org.connect("bob", { since: filled.lastOld })).response).toMatchObject({ recovered: false });
      const { socket, response } = await org.connect("bob", { since: filled.firstRecent });
      expect(response).toMatchObject({ recovered: true });
      expect((await socket.next()).message?.body).toBe(`${old + 1}`);
    });

    test("takes a forgotten id for a new send, and a known one for a retry", async () => {
      const org = await createOrganization(herald, "o1");
      expect(
        (await org.send("alice", { id: "m0", cid: "c1", body: "anew" })).headers.get("idempotent-replayed"),
      ).toBeNull();
      const again = await org.send("alice", { id: "m0", cid: "c1", body: "anew" });
      expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
      expectProblem(await org.send("alice", { id: `m${old}`, cid: "c1", body: "another" }), 409, "message_id_conflict");
    });
  });
}

describeServer("SQLite", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "herald-retention-"));
  return { driver: openSqlite(join(dataDir, "herald.db")), env: {}, dataDir };
});

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());
  describeServer("PostgreSQL", async () => {
    const url = await postgres.createDatabase();
    const dataDir = mkdtempSync(join(tmpdir(), "herald-retention-"));
    return { driver: connectPostgres(url), env: { HERALD_DATABASE_URL: url }, dataDir };
  });
}
