import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createOwnFiles } from "./own-files.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The files of an open database, looked at so long after the last change that only another change of the folder matters. */
async function open({ isLinked = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "herald-own-files-"));
  folders.push(folder);
  const target = join(folder, "data", "herald.db");
  const file = isLinked ? join(folder, "link.db") : target;
  mkdirSync(dirname(target));
  const database = new Database(target);
  database.run("PRAGMA journal_mode = WAL");
  database.run("CREATE TABLE one (id)");
  if (isLinked) symlinkSync(target, file);
  const files = createOwnFiles(file, { now: () => Date.now() + 60_000 });
  for (let look = 0; look < 3; look++) files.require();
  await Bun.sleep(20); // what comes next has another time, also where the kernel's clock ticks every 10 ms
  const close = () => {
    database.close();
    files.close();
  };
  return { files, file: target, [Symbol.dispose]: close };
}

test.each([
  ["the database is removed", (file: string) => rmSync(file)],
  ["the write-ahead log is removed", (file: string) => rmSync(`${file}-wal`)],
  ["the database is moved away", (file: string) => renameSync(file, `${file}.old`)],
  [
    "another file replaces the database",
    (file: string) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
  ],
  ["the folder is moved away", (file: string) => renameSync(dirname(file), `${dirname(file)}-old`)],
])("it is noticed at once if %s", async (_, change) => {
  using own = await open();
  change(own.file);
  expect(() => own.files.require()).toThrow();
  await expect(own.files.check()).rejects.toThrow();
});

test("a database that is a link is looked after where it is", async () => {
  using own = await open({ isLinked: true });
  rmSync(own.file);
  expect(() => own.files.require()).toThrow();
});

test("other files in the folder come and go", async () => {
  using own = await open();
  const other = join(dirname(own.file), "backup");
  for (let turn = 0; turn < 3; turn++) {
    writeFileSync(other, "");
    own.files.require();
    rmSync(other);
    own.files.require();
  }
});
