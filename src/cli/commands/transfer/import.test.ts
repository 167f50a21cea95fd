import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { useHerald } from "../../../../test/harness/servers/herald.ts";
import { createOrganization } from "../../../../test/harness/servers/organization.ts";
import { runHerald, startHeraldCommand } from "../../testing/run-herald.ts";

const herald = useHerald();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "herald-import-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (args: string[], stdin?: string) => {
  const env = { HERALD_ADMIN_API_KEY: herald().key };
  return runHerald([...args, "--url", herald().url], stdin === undefined ? { env } : { env, stdin });
};
const text = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const room = { conversation: { id: "room", name: null, participants: ["alice"] } };

test("herald import takes what herald export wrote, from a file or from stdin, again and again", async () => {
  const [org, copy] = [await createOrganization(herald()), await createOrganization(herald())];
  const [file, again] = [join(folder, "lines"), join(folder, "again")];
  const created_at = "2024-01-01T00:00:00.000Z";
  const message = { message: { id: "m", cid: "room", senderId: "alice", body: "hi", x: {}, created_at } };
  expect(await run(["import", "-", "--org", org.id], text(room, message))).toMatchObject({ code: 0, stdout: "" });
  expect(await run(["export", file, "--org", org.id])).toMatchObject({ code: 0, stdout: "" });
  expect(readFileSync(file, "utf8")).toBe(text({ user: { id: "alice", name: null } }, room, message));
  for (let time = 0; time < 2; time++) {
    const { code, stderr } = await run(["import", file, "--org", copy.id]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^imported 3 of 3 lines in \d+ s \([\d,]+\/s\)\n$/),
    });
  }
  expect((await run(["export", "--org", copy.id])).stdout).toBe(readFileSync(file, "utf8"));
  expect((await run(["export", again, "--org", copy.id, "--user", "alice"])).code).toBe(0);
  expect(readFileSync(again, "utf8")).toBe(readFileSync(file, "utf8"));
});

test("herald export --follow adds what is delivered after the export, until it is interrupted", async () => {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice"]);
  await org.sent("alice", { cid, body: "before" });
  const env = { HERALD_ADMIN_API_KEY: herald().key };
  await using command = startHeraldCommand(["export", "--org", org.id, "--follow", "--url", herald().url], { env });
  for (const name of ["user", "conversation", "message"])
    expect(JSON.parse((await command.lines.next()).value ?? "")).toHaveProperty(name);
  await org.sent("alice", { cid, body: "after" });
  const followed = JSON.parse((await command.lines.next()).value ?? "");
  expect(followed).toMatchObject({ event: { message: { cid, body: "after" } } });
  command.kill("SIGINT");
  expect(await command.exited).toBe(0);
  const notes: string[] = [];
  for await (const note of command.errorLines) notes.push(note);
  expect(notes.at(-1)).toBe(`to go on from here, give --after ${followed.cursor}`);
});

test("herald import prints the lines that fail and exits with 1; with --dry-run it stores nothing", async () => {
  const org = await createOrganization(herald());
  const file = join(folder, "lines");
  writeFileSync(file, text(room, { participant: { cid: "none", uid: "bob" } }));
  const dry = await run(["import", file, "--org", org.id, "--dry-run"]);
  expect(dry).toMatchObject({ code: 1, stdout: expect.stringContaining("line 2: conversation_not_found: ") });
  expect((await run(["export", "--org", org.id])).stdout).toBe("");
  const { code, stdout, stderr } = await run(["import", file, "--org", org.id]);
  expect({ code, stdout }).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("line 2: conversation_not_found: "),
  });
  expect(stderr).toContain("1 of 2 lines failed");
  expect((await run(["export", "--org", org.id])).stdout).toContain('"room"');
});

test("herald import says what is wrong with the file or the organization", async () => {
  expect(await run(["import", join(folder, "none"), "--org", "o"])).toMatchObject({ code: 2 });
  const missing = await run(["import", "-", "--org", "none"], text(room));
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("organization_not_found") });
});
