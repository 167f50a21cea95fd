import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createBackupFolder, removeUnfinishedBackups } from "./unfinished-backups.ts";

let folder = "";
const now = Date.now();
const dayMs = 24 * 3600 * 1000;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "herald-unfinished-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function make(name: string, agoMs = 0): string {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, "backup.db"), "secret");
  utimesSync(path, (now - agoMs) / 1_000, (now - agoMs) / 1_000);
  return name;
}

test("only folders of processes that have ended are removed", async () => {
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  const host = hostname().replaceAll(/[^\w.]/g, "_");
  const kept = [
    basename(createBackupFolder(folder)),
    make(`unfinished-backup-${process.pid}-${host}-abc123`, 9 * dayMs),
    make("unfinished-backup-1-another.host-abc123", dayMs / 2),
    make("unfinished-backup-of-monday"),
    make("backup-monday", 9 * dayMs),
    make("files", 9 * dayMs),
  ];
  make(`unfinished-backup-${ended.pid}-${host}-abc123`);
  make("unfinished-backup-1-another.host-abc124", dayMs + 1_000);
  removeUnfinishedBackups(folder, now);
  expect(readdirSync(folder).sort()).toEqual(kept.sort());
});
