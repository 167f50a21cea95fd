import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRoot } from "../harness/engines/installed.ts";
import { withSmallDisk } from "../harness/engines/small-disk.ts";
import { runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

function expectOneLine(printed: string, ...parts: string[]): void {
  expect(printed.split("\n")).toHaveLength(1);
  for (const part of parts) expect(printed).toContain(part);
}

describe.skipIf(!isRoot("mount a small disk"))("a full disk", () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-full-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const disk = join(folder, "disk");
  mkdirSync(disk);

  /** What a command prints about a small disk that holds a copy of a folder, and is full. */
  async function printedOnFull(content: string, args: string[], dataDir: string): Promise<string> {
    const fill = 'cp -a "$0"/. "$1"; dd if=/dev/zero of="$1/ballast" status=none bs=1k 2>/dev/null; shift; exec "$@"';
    const prefix = withSmallDisk(disk, 8, ["sh", "-c", fill, content, disk]);
    const { code, stdout, stderr } = await runHerald(args, { HERALD_DATA_DIR: dataDir, HERALD_PORT: "0" }, { prefix });
    expect(code).not.toBe(0);
    return `${stdout}${stderr}`.trim();
  }

  test("ends a start with one line that says what to do, with a database and without, and a backup to it, too", async () => {
    const [empty, used] = [join(folder, "empty"), join(folder, "used")];
    for (const path of [empty, used]) mkdirSync(path);
    const herald = await startHerald({ dataDir: used });
    await createOrganization(herald);
    await herald.kill();
    for (const content of [empty, used])
      for (const args of [["serve"], ["migrate"]]) {
        expectOneLine(
          await printedOnFull(content, args, disk),
          `HERALD_DATA_DIR ${disk}`,
          "disk is full",
          "free space",
        );
      }
    expectOneLine(
      await printedOnFull(empty, ["backup", join(disk, "b")], used),
      `disk of ${disk}/b is full`,
      "free space",
    );
    expectOneLine(await printedOnFull(used, ["backup", "-"], disk), `disk of ${disk}`, "is full", "free space");
    expect((await runHerald(["backup", join(folder, "b")], { HERALD_DATA_DIR: used })).code).toBe(0);
    expectOneLine(
      await printedOnFull(empty, ["restore", join(folder, "b")], disk),
      `disk of ${disk}/herald.db is full`,
    );
  });
});
