import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unavailable } from "../../src/contract/errors/errors.ts";
import { createThreadScheduler } from "../../src/lib/event-loop/thread-scheduler.ts";
import { createOutage } from "../../src/lib/observing/outages.ts";
import { createFileFigures } from "../../src/services/files/file-figures.ts";
import { createFileUpkeep } from "../../src/services/files/file-upkeep.ts";
import { createFiles } from "../../src/services/files/files.ts";
import { watchBytes } from "../../src/services/files/watched-bytes.ts";
import { createDiskBytes } from "../../src/store/files/disk.ts";
import { openSqliteThread } from "../../src/store/sqlite/thread.ts";
import { createStore, type Database } from "../../src/store/store.ts";
import { messageOf } from "../../src/store/testing/log-suite.ts";

const hourMs = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), "herald-upkeep-"));
const time = { now: 1_700_000_000_000 };
const clock = { now: () => time.now };
const org = "acme";
const unlimited = {
  isShared: () => false,
  know: () => undefined,
  reserveRoom: () => ({ error: undefined, grow: () => undefined, end: () => undefined }),
};
let database: Database;

beforeAll(async () => {
  const onCrash = (error: Error) => {
    throw error;
  };
  database = await openSqliteThread(join(folder, "herald.db"), { announce: () => undefined, onCrash });
  const { organizations, conversations } = createStore({ ...database, announce: () => undefined });
  await organizations.put(org, undefined, time.now);
  await conversations.put(org, "c1", { participants: ["u1"] }, time.now);
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

/** The files of a node that begins now, on the database and the disk that all of them share. */
function startFiles() {
  const store = createStore({ ...database, announce: () => undefined });
  const figures = createFileFigures();
  const told: string[] = [];
  const log = { warn: () => void told.push("fails"), info: () => void told.push("responds again") };
  const outages = createOutage({ log, dependency: "files", address: "", describe: String, clock });
  const disk = createDiskBytes(join(folder, "files"));
  const state = { isAway: false };
  const remove = async (id: string) => {
    if (state.isAway) throw unavailable();
    await disk.remove(id);
  };
  const bytes = watchBytes({ ...disk, remove }, { figures, outages });
  const thread = createThreadScheduler();
  const files = createFiles({
    ...store,
    bytes,
    use: unlimited,
    thread,
    maxBytes: 1_000,
    figures,
    clock,
    elapsed: clock,
  });
  const upkeep = createFileUpkeep({ upkeep: store.files, bytes, clock });
  return { store, files, upkeep, state, told, figures };
}

async function* piecesOf(text: string) {
  yield new TextEncoder().encode(text);
}

const stored = () =>
  readdirSync(join(folder, "files"), { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length;

const permit = async () => undefined;

describe("the upkeep of files", () => {
  test("removes files that no message has named a day after their upload, with their bytes, and no others", async () => {
    const { store, files, upkeep } = startFiles();
    const upload = (text: string) =>
      files.create(org, text, { pieces: piecesOf(text), length: text.length, contentType: undefined, permit });
    const [named, orphan] = [await upload("named"), await upload("orphan")];
    const file = { id: named.file_id, name: "a", contentType: "text/plain", size: 5, isGiven: true };
    await store.sends.append(messageOf(org, { payload: '{"message":{}}', files: [file], createdAt: time.now }));
    time.now += 24 * hourMs;
    await upkeep.run();
    expect(stored()).toBe(2);
    time.now += 1;
    await upkeep.run();
    expect(stored()).toBe(1);
    await expect(files.get(org, orphan.file_id)).rejects.toMatchObject({ code: "file_not_found" });
    expect(await files.get(org, named.file_id)).toEqual(named);
    expect(await new Response((await files.open(named.file_id, { org })).bytes.part(0, 5)).text()).toBe("named");
  });

  test("of a node that begins removes the bytes of uploads that others left a day ago", async () => {
    const { store, upkeep } = startFiles();
    const before = stored();
    const bytesId = Bun.randomUUIDv7();
    await store.files.begin(org, bytesId, time.now);
    await createDiskBytes(join(folder, "files")).write(bytesId, piecesOf("of a node that died"));
    time.now += 24 * hourMs;
    await upkeep.run();
    expect(stored()).toBe(before + 1);
    time.now += 1;
    await startFiles().upkeep.run();
    expect(stored()).toBe(before);
    expect(await store.files.unwanted(time.now, 10)).toEqual([]);
  });

  test("tries again what the store of bytes could not remove, and tells of it once", async () => {
    const { store, files, upkeep, state, told, figures } = startFiles();
    const before = stored();
    for (const text of ["one", "two"])
      await files.remove(
        org,
        (await files.create(org, text, { pieces: piecesOf(text), length: 3, contentType: undefined, permit })).file_id,
      );
    state.isAway = true;
    await upkeep.run();
    await upkeep.run();
    expect(stored()).toBe(before + 2);
    expect([told, figures.failures.remove]).toEqual([["fails"], 2]);
    state.isAway = false;
    await upkeep.run();
    expect([stored(), told]).toEqual([before, ["fails", "responds again"]]);
    expect(await store.files.unwanted(time.now, 10)).toEqual([]);
  });
});
