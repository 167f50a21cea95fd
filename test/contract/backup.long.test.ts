import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../src/store/migrations.ts";
import { runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const folder = mkdtempSync(join(tmpdir(), "herald-backup-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (name: string) => join(folder, name);
const modeOf = (file: string) => statSync(file).mode & 0o777;

const lifted = { HERALD_LIMIT_REQUESTS_PER_SECOND: "0", HERALD_LIMIT_REQUESTS_BURST: "0" };

describe("herald backup and herald restore", () => {
  test("a backup made under load and restored elsewhere has all that was acknowledged before, and its keys and tokens", async () => {
    await using herald = await startHerald({ key: null, env: lifted });
    const key = readFileSync(join(herald.dataDir, "admin-api-key"), "utf8").trim();
    const org = await createOrganization({
      ...herald,
      admin: (method, path, body, headers = {}) =>
        herald.admin(method, path, body, { "Admin-Api-Key": key, ...headers }),
    });
    const cid = await org.conversation(["alice", "bob"]);
    const token = await org.token("bob");
    const acknowledged: string[] = [];
    let isOver = false;
    const callers = Array.from({ length: 8 }, async (_, caller) => {
      for (let index = 0; !isOver; index++)
        acknowledged.push((await org.sent("alice", { cid, body: `${caller}/${index}` })).server_mid);
    });
    while (acknowledged.length < 200) await Bun.sleep(5);
    const before = [...acknowledged];
    const file = inFolder("under-load.db");
    const made = await runHerald(["backup", file, "--json"], { HERALD_DATA_DIR: herald.dataDir });
    isOver = true;
    await Promise.all(callers);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const facts = JSON.parse(made.stdout);
    expect(facts).toMatchObject({
      file,
      schema: migrations.length,
      organizations: 1,
      files: ["admin-api-key", "token-secret", "key-secret"],
    });
    expect(facts.messages).toBeWithin(before.length, acknowledged.length + 1);
    expect(modeOf(file)).toBe(0o600);

    const restored = inFolder("restored");
    const told = await runHerald(["restore", file, "--data-dir", restored]);
    expect(told).toMatchObject({ code: 0, stderr: "" });
    expect(told.stdout).toContain(`Restored to ${restored}`);
    for (const name of ["admin-api-key", "token-secret", "key-secret"]) {
      expect(readFileSync(join(restored, name), "utf8")).toBe(readFileSync(join(herald.dataDir, name), "utf8"));
      expect(modeOf(join(restored, name))).toBe(0o600);
    }
    expect(modeOf(join(restored, "herald.db"))).toBe(0o600);
    const secret = readFileSync(join(restored, "token-secret"), "utf8").trim();
    expect(readFileSync(join(restored, "herald.db")).includes(secret)).toBe(false);

    await using second = await startHerald({ key: null, dataDir: restored });
    const { ids, status } = await historyOf(second.url, key, org.path("conversations", cid, "messages"));
    expect(status).toBe(200);
    for (const id of before) expect(ids.has(id)).toBe(true);
    expect(ids.size).toBe(facts.messages);
    const connected = await fetch(`${second.url}/sse`, { headers: { Authorization: `Bearer ${token}` } });
    expect(connected.status).toBe(200);
    await connected.body?.cancel();
  });

  test("a restored backup, and a backup of it, start again after a kill", async () => {
    await using herald = await startHerald();
    await createOrganization(herald, "kept");
    let from = herald.dataDir;
    for (let round = 0; round < 2; round++) {
      const [backup, restored] = [inFolder(`chain-${round}.db`), inFolder(`chain-${round}`)];
      expect(await runHerald(["backup", backup], { HERALD_DATA_DIR: from })).toMatchObject({ code: 0, stderr: "" });
      const told = await runHerald(["restore", backup, "--data-dir", restored]);
      expect(told).toMatchObject({ code: 0, stderr: "" });
      for (let start = 0; start < 2; start++) {
        await using node = await startHerald({ dataDir: restored });
        expect((await node.admin("PUT", `/admin/organizations/kept/users/u${round}${start}`, {})).status).toBe(201);
        await node.kill(); // its write-ahead log stays
      }
      from = restored;
    }
  });

  test("`-` writes the backup to standard output, and leaves nothing in the data folder", async () => {
    await using herald = await startHerald();
    await createOrganization(herald, "piped");
    const names = readdirSync(herald.dataDir).toSorted();
    const file = inFolder("piped.db");
    const script = new URL("../../src/cli/herald.ts", import.meta.url).pathname;
    const pipe = Bun.spawn(["sh", "-c", `"$0" "$1" backup - > "$2"`, process.execPath, script, file], {
      env: { ...process.env, HERALD_DATA_DIR: herald.dataDir },
    });
    expect(await pipe.exited).toBe(0);
    expect(readdirSync(herald.dataDir).toSorted()).toEqual(names);
    const copy = new Database(file, { readonly: true });
    expect(copy.query("SELECT id FROM organization").all()).toEqual([{ id: "piped" }]);
    copy.close();
  });

  test("what a killed backup leaves is removed by the next one, and by the next start", async () => {
    const herald = await startHerald();
    const { dataDir } = herald;
    const script = new URL("../../src/cli/herald.ts", import.meta.url).pathname;
    const unfinished = () => readdirSync(dataDir).filter((name) => name.startsWith("unfinished-backup-"));
    const found: string[][] = [];
    for (let round = 0; round < 2; round++) {
      const env = { ...process.env, HERALD_DATA_DIR: dataDir };
      const child = Bun.spawn([process.execPath, script, "backup", "-"], { env, stdout: "pipe" });
      await child.stdout.getReader().read(); // the rest is not read, so that it does not end
      found.push(unfinished());
      child.kill("SIGKILL");
      await child.exited;
    }
    expect(found.map(({ length }) => length)).toEqual([1, 1]);
    expect(found[0]).not.toEqual(found[1] ?? []);
    await herald.kill();
    await using _again = await startHerald({ dataDir });
    expect(unfinished()).toEqual([]);
  });

  test("what cannot be done ends with 2 and a line that says why, and changes nothing", async () => {
    await using herald = await startHerald();
    await createOrganization(herald);
    const env = { HERALD_DATA_DIR: herald.dataDir };
    const file = inFolder("whole.db");
    expect((await runHerald(["backup", file], env)).code).toBe(0);
    const damaged = inFolder("damaged.db");
    const bytes = readFileSync(file);
    bytes.fill(0xff, 8_192, 12_288);
    writeFileSync(damaged, bytes);
    writeFileSync(inFolder("text.db"), "not a database");
    new Database(inFolder("other.db"), { create: true }).run("CREATE TABLE t (v TEXT)");
    const empty = inFolder("empty");
    const refused = async (args: string[], text: string, more: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await runHerald(args, { ...env, ...more });
      expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(text) });
    };
    await refused(["backup", file], `${file} already exists`);
    await refused(["backup", inFolder("new.db")], "there is no database at", { HERALD_DATA_DIR: empty });
    await refused(["backup", inFolder("new.db")], "pg_dump", { HERALD_DATABASE_URL: "postgres://u@h/herald" });
    await refused(["restore", file], "already exists; restore into an empty folder");
    await refused(["restore", inFolder("nothing.db"), "--data-dir", empty], "there is no backup at");
    await refused(["restore", inFolder("text.db"), "--data-dir", empty], "is not a backup of Herald");
    await refused(["restore", inFolder("other.db"), "--data-dir", empty], "but not one of Herald");
    await refused(["restore", damaged, "--data-dir", empty], "damaged");
    expect(existsSync(inFolder("new.db"))).toBe(false);
    expect(readdirSync(empty)).toEqual([]);
  });
});

/** Reads a whole history. */
async function historyOf(url: string, key: string, path: string): Promise<{ status: number; ids: Set<string> }> {
  const ids = new Set<string>();
  let cursor: string | null = "";
  let status = 200;
  while (cursor !== null && status === 200) {
    const query = `?limit=1000${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const response = await fetch(url + path + query, { headers: { "Admin-Api-Key": key } });
    status = response.status;
    const page: { items: { _id: string }[]; cursor: string | null } = await response.json();
    for (const { _id } of page.items) ids.add(_id);
    ({ cursor } = page);
  }
  return { status, ids };
}
