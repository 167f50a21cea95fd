import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { eventually } from "../../harness/deadline.ts";
import { freePort } from "../../harness/engines/free-port.ts";
import { reportMissing } from "../../harness/engines/installed.ts";
import { plannedOnce, startPostgres } from "../../harness/engines/postgres.ts";
import { runHerald } from "../../harness/servers/herald.ts";

setDefaultTimeout(120_000);

const postgres = await startPostgres({ settings: plannedOnce });
if (postgres !== undefined) {
  afterAll(postgres.stop);

  /** Expects that the start ends with one line, and that `herald doctor` says the same. */
  async function expectRefusal(url: string, ...says: string[]) {
    const folder = mkdtempSync(join(tmpdir(), "herald-unsuitable-"));
    try {
      const env = { HERALD_DATABASE_URL: url, HERALD_DATA_DIR: folder, HERALD_PORT: "0" };
      const { code, stdout, stderr } = await runHerald(["serve"], env);
      expect(code).not.toBe(0);
      const lines = `${stdout}${stderr}`.trim().split("\n");
      expect(lines).toHaveLength(1);
      for (const part of ["HERALD_DATABASE_URL", ...says]) expect(lines[0]).toContain(part);
      const findings = (await runHerald(["doctor", "--json"], env)).stdout.trim().split("\n");
      const database = findings.map((line) => JSON.parse(line)).find(({ subject }) => subject === "database");
      expect(database.state).toBe("failure");
      for (const part of says) expect(`${database.detail}; ${database.advice}`).toContain(part);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  describe("a start on a database", () => {
    test("that cannot store every text ends with one line", async () => {
      const url = await postgres.createDatabase();
      const admin = new SQL(postgres.asSuperuser(url), { max: 1 });
      await admin.unsafe(
        "CREATE DATABASE latin OWNER herald ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
      );
      await admin.close();
      await expectRefusal(`${postgres.url}/latin`, "LATIN1", "UTF8");
    });

    test("that is read-only ends with one line", async () => {
      const url = await postgres.createDatabase();
      const admin = new SQL(postgres.asSuperuser(url), { max: 1 });
      await admin.unsafe(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
      await admin.close();
      await expectRefusal(url, "read-only");
    });

    test("that is a standby ends with one line", async () => {
      const { pathname } = new URL(await postgres.createDatabase());
      const standby = await postgres.copy({ standby: { name: "standby", port: postgres.port } });
      try {
        await expectRefusal(standby.url + pathname, "standby", "primary");
      } finally {
        standby.stop();
      }
    });
  });

  const found = Bun.which("pgbouncer", { PATH: `${process.env.PATH}:/usr/sbin` });
  const bouncer = found ?? reportMissing("pgbouncer", "pgbouncer");
  if (bouncer !== undefined)
    describe("a start behind a pooler", () => {
      const folder = mkdtempSync(join(tmpdir(), "herald-pooler-"));
      const port = freePort();
      let child: Bun.Subprocess | undefined;

      async function startPooler(settings: string): Promise<void> {
        child?.kill();
        await child?.exited;
        const file = join(folder, "pooler.ini");
        const [users] = [join(folder, "users")];
        writeFileSync(users, '"herald" ""\n');
        const common = `listen_addr=127.0.0.1\nlisten_port=${port}\nauth_type=any\nunix_socket_dir=\n`;
        const target = `[databases]\n* = host=127.0.0.1 port=${postgres?.port} user=herald\n`;
        writeFileSync(file, `${target}[pgbouncer]\n${common}${settings}\n`);
        chmodSync(folder, 0o755);
        const asOther = userInfo().uid === 0 ? ["runuser", "-u", "postgres", "--"] : [];
        child = Bun.spawn([...asOther, bouncer ?? "", file], { stdout: "ignore", stderr: "ignore" });
        const probe = async () => {
          const sql = new SQL(`postgres://herald@127.0.0.1:${port}/postgres`, { max: 1 });
          try {
            await sql`SELECT 1`.simple();
            return true;
          } catch {
            return undefined;
          } finally {
            await sql.close();
          }
        };
        await eventually(probe, "the pooler");
      }

      let url = "";
      beforeAll(async () => {
        url = `postgres://herald@127.0.0.1:${port}${new URL((await postgres?.createDatabase()) ?? "").pathname}`;
      });
      afterAll(async () => {
        child?.kill();
        await child?.exited;
        rmSync(folder, { recursive: true });
      });

      test.each([
        "pool_mode=transaction",
        "pool_mode=transaction\nignore_startup_parameters=statement_timeout",
        "pool_mode=statement\nignore_startup_parameters=statement_timeout",
      ])("ends with one line, with %j", async (settings) => {
        await startPooler(settings);
        await expectRefusal(url, "pooler", "server itself");
      });

      test.each(["", "\ndefault_pool_size=1"])(
        "that passes all settings on ends with one line, too%j",
        async (size) => {
          const admin = new SQL(postgres?.asSuperuser(url.replace(`:${port}`, `:${postgres?.port}`)) ?? "", { max: 1 });
          await admin.unsafe(`ALTER ROLE herald SET statement_timeout = '10007ms'`); // as if the pooler had set it
          await startPooler(`pool_mode=transaction\nignore_startup_parameters=statement_timeout${size}`);
          await expectRefusal(url, "pooler", "server itself");
          await admin.close();
        },
      );
    });
}
