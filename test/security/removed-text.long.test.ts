import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { createId } from "../../src/lib/text/ids.ts";
import { plannedOnce, startPostgres } from "../harness/engines/postgres.ts";
import { uniqueId } from "../harness/random.ts";
import { columnsOfFile, columnsOfPostgres } from "../harness/reading/columns.ts";
import { filesWith } from "../harness/reading/files.ts";
import { filesOf } from "../harness/servers/files.ts";
import { type Herald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { hooksOf } from "../harness/servers/receiver.ts";
import { expectGone, type Search, startEcho } from "./erased-text.ts";

setDefaultTimeout(120_000);

/** Where a server keeps what it has, and how to look at that and change it. */
type Place = {
  env: Record<string, string>;
  search: Search;
  /** Runs statements while no server runs. */
  change(statements: readonly string[]): Promise<void> | void;
};

const dayMs = 24 * 3600 * 1000;

/** The statements that make messages, and the deletion of conversations, a hundred days older. */
function statementsToAge(): string[] {
  const time = createId(Date.now() - 100 * dayMs).slice(0, 8); // of a minute; what follows keeps ids apart
  const ids = ["event.id", "webhook_delivery.event_id", "attachment.event_id"].map((name) => name.split("."));
  return [
    ...ids.map(([table, column]) => `UPDATE ${table} SET ${column} = '${time}' || substr(${column}, 9)`),
    `UPDATE removal SET removed_at = removed_at - ${100 * dayMs}`,
    "UPDATE retention SET leased_until = 1", // the node that was stopped has it for half a minute
  ];
}

/** Writes to an organization; a receiver of its webhooks repeats that. Returns the words of messages, and those about files. */
async function write(herald: Herald, label: string, hasWebhook: boolean) {
  const org = await createOrganization(herald);
  const [hooks, receiver] = [hooksOf(org), startEcho()];
  if (hasWebhook) await hooks.toReceiver("echo", receiver);
  const cid = await org.conversation(["alice", "bob"]);
  const word = (name: string) => uniqueId(`secret-${label}-${name}`);
  const [body, parameter, edited, kind, name, given] = ["body", "x", "edited", "kind", "name", "given"].map(word);
  const { file_id } = await filesOf(org).uploaded(`${given}.txt`, "bytes");
  const attachments = [
    { name, size: 1, content_type: `text/${kind}` },
    { name: given, size: 5, content_type: "text/plain", file_id },
  ];
  await org.sent("alice", { cid, body, x: { word: parameter }, attachments });
  const { server_mid: id } = await org.sent("alice", { cid, body: "soon edited" });
  if (hasWebhook)
    await hooks.deliveriesWhen("echo", (all) => all.filter(({ last_try }) => last_try?.answer != null).length >= 2);
  await org.edited("alice", { id, body: edited });
  return { org, cid, receiver, texts: [body, parameter, edited].map(String), names: [kind, name, given].map(String) };
}

function describeEngine(engine: string, placeIn: (dataDir: string) => Promise<Place> | Place): void {
  describe(`with ${engine}, what was deleted with its conversation or organization, or is older than its retention`, () => {
    test.each([
      ["was told by webhooks", true],
      ["was not", false],
    ])("is in no column of any table, if it %s", async (_, hasWebhook) => {
      await using cleanup = new AsyncDisposableStack();
      const dataDir = mkdtempSync(join(tmpdir(), "herald-removed-"));
      cleanup.defer(() => rmSync(dataDir, { recursive: true }));
      const { env, search, change } = await placeIn(dataDir);
      const start = async (settings: Record<string, string> = {}) =>
        cleanup.use(await startHerald({ dataDir, env: { HERALD_WEBHOOK_ALLOW_PRIVATE: "1", ...env, ...settings } }));

      const first = await start();
      const [old, conversation, organization] = await Promise.all([
        write(first, "old", hasWebhook),
        write(first, "conversation", hasWebhook),
        write(first, "organization", hasWebhook),
      ]);
      const written = [old, conversation, organization];
      for (const { receiver } of written) cleanup.use(receiver);
      const texts = written.flatMap((one) => one.texts);
      const names = written.flatMap((one) => one.names);
      for (const word of [...texts, ...names]) expect([word, await search(word)]).not.toEqual([word, []]);
      if (hasWebhook)
        for (const [body = ""] of written.map((one) => one.texts))
          expect(await search(body)).toContain("webhook_delivery.last_try");
      const kept = uniqueId("kept");
      await first.admin("PUT", old.org.path("users", "alice"), { name: kept });
      expect((await first.admin("DELETE", conversation.org.path("conversations", conversation.cid))).status).toBe(204);
      expect((await first.admin("DELETE", organization.org.path())).status).toBe(204);
      await first.stop();
      await change(statementsToAge());

      const second = await start({ HERALD_RETENTION_MESSAGES_DAYS: "30" });
      await expectGone(search, texts);
      await second.stop();
      await start(); // a node looks for the files of removed messages when it starts, and each hour
      await expectGone(search, names);
      expect(await search(kept)).not.toEqual([]);
    });
  });
}

// And in no byte of the files.
describeEngine("SQLite", (dataDir) => ({
  env: {},
  search: async (text) => [...(await columnsOfFile(dataDir, text)), ...filesWith(dataDir, text)],
  change(statements) {
    using database = new Database(join(dataDir, "herald.db"));
    database.run("PRAGMA secure_delete = ON");
    for (const statement of statements) database.run(statement);
  },
}));

const postgres = await startPostgres({ settings: plannedOnce });
if (postgres !== undefined) {
  afterAll(() => postgres.stop());
  describeEngine("PostgreSQL", async () => {
    const url = await postgres.createDatabase();
    return {
      env: { HERALD_DATABASE_URL: url },
      search: (text) => columnsOfPostgres(url, text),
      async change(statements) {
        await using sql = new SQL(postgres.asSuperuser(url), { max: 1 });
        for (const statement of statements) await sql.unsafe(statement);
      },
    };
  });
}
