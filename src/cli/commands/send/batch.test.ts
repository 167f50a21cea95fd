import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { useHerald } from "../../../../test/harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../../../test/harness/servers/organization.ts";
import { runHerald } from "../../testing/run-herald.ts";

const herald = useHerald();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "herald-batch-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (args: string[], stdin?: string) => {
  const env = { HERALD_ADMIN_API_KEY: herald().key };
  return runHerald(["batch", ...args, "--url", herald().url], stdin === undefined ? { env } : { env, stdin });
};
const text = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const messageOf = (org: Organization, id: string, senderId = "alice") => ({
  organizationId: org.id,
  senderId,
  message: { id, cid: "room", body: id },
});

async function room(): Promise<Organization> {
  const org = await createOrganization(herald());
  await org.conversation(["alice", "bob"], "room");
  return org;
}

test("herald batch sends a file, or standard input, and the same again sends nothing twice", async () => {
  const org = await room();
  const file = join(folder, "lines");
  const system = { organizationId: org.id, senderId: "alice", messageSystem: { id: "s", uids: ["bob"] } };
  writeFileSync(file, text(messageOf(org, "m1"), system, messageOf(org, "m2")));
  expect(await run([file])).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/^sent 3 of 3 lines in \d+ s \([\d,]+\/s\)\n$/),
  });
  const again = await run(["-", "--rate", "500"], text(messageOf(org, "m1"), messageOf(org, "m3")));
  expect(again).toMatchObject({ code: 0, stderr: expect.stringMatching(/^sent 2 of 2 lines, 1 of them before in /) });
  expect((await org.history("room")).map(({ body }) => body)).toEqual(["m3", "m2", "m1"]);
});

test("herald batch prints the lines that fail and exits with 1; with --dry-run it sends nothing", async () => {
  const org = await room();
  const lines = text(messageOf(org, "m1"), messageOf(org, "m2", "mallory"));
  for (const options of [["--dry-run"], []]) {
    const { code, stdout, stderr } = await run(["-", ...options], lines);
    expect({ code, stdout }).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("line 2: sender_not_participant: "),
    });
    expect(stderr).toContain("1 of 2 lines failed");
    expect(await org.history("room")).toHaveLength(options.length === 0 ? 1 : 0);
  }
});

test("herald batch --json prints the answers of the server", async () => {
  const org = await room();
  const { code, stdout } = await run(["-", "--json"], text(messageOf(org, "m1"), messageOf(org, "m2", "mallory")));
  expect(code).toBe(1);
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(answers).toMatchObject([
    { line: 1, status: 201, ask: { mid: "m1" } },
    { line: 2, status: 403, problem: { code: "sender_not_participant" } },
  ]);
});

test("herald batch says what is wrong with the file or the rate", async () => {
  expect(await run([join(folder, "none")])).toMatchObject({ code: 2 });
  expect(await run(["-", "--rate", "0"], "")).toMatchObject({ code: 2 });
});
