import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openUnreadStream } from "../harness/clients/unread-stream.ts";
import { eventually } from "../harness/deadline.ts";
import { isRoot } from "../harness/engines/installed.ts";
import { fillDisk, insideOf, withSmallDisk } from "../harness/engines/small-disk.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { filesOf } from "../harness/servers/files.ts";
import { startHerald, TEST_KEY } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { cutUpload } from "./cut-upload.ts";
import { growthDuring } from "./memory.ts";
import { patternStream, sha256OfPattern } from "./pattern.ts";

const megabyte = 1_048_576;
const mayGrow = 200 * megabyte;

test("a file of 1 GiB goes up and down while the node's memory stays flat, also for one who does not read it", async () => {
  await using node = await startHerald({ env: { HERALD_LIMIT_FILE_BYTES: "0" } });
  const org = await createOrganization(node);
  const files = filesOf(org);
  const size = 1024 * megabyte;
  const sha256 = sha256OfPattern(size);
  await files.uploaded("warm", patternStream(megabyte));
  let id = "";
  const upwards = await growthDuring(node.pid, async () => {
    const file = await files.uploaded("large", patternStream(size));
    expect(file).toMatchObject({ size, sha256 });
    id = file.file_id;
  });
  const hash = new Bun.CryptoHasher("sha256");
  const downwards = await growthDuring(node.pid, async () => {
    using _unread = await openUnreadStream(node.url, `/files/${id}`, { "Admin-Api-Key": TEST_KEY });
    const answer = await fetch(`${node.url}/files/${id}`, { headers: { "Admin-Api-Key": TEST_KEY } });
    for await (const piece of answer.body ?? []) hash.update(piece);
  });
  expect(hash.digest("hex")).toBe(sha256);
  expect(upwards).toBeLessThan(mayGrow);
  expect(downwards).toBeLessThan(mayGrow);
}, 180_000);

describe.skipIf(!isRoot("mount a small disk"))("a full disk for files", () => {
  test("is 507 for uploads, leaves nothing of them, and breaks nothing else", async () => {
    const folder = mkdtempSync(join(tmpdir(), "herald-files-"));
    const prefix = withSmallDisk(folder, 8);
    await using node = await startHerald({ env: { HERALD_FILES_URL: `file://${folder}` }, prefix });
    const org = await createOrganization(node);
    const files = filesOf(org);
    const cid = await org.conversation(["alice"]);
    const inside = insideOf(node.pid, folder);
    const count = () =>
      readdirSync(inside, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length;
    const small = await files.uploaded("small", "small");
    expectProblem(await files.upload("large", patternStream(20 * megabyte)), 507, "storage_full");
    expect(count()).toBe(1);
    const free = fillDisk(inside);
    expectProblem(await files.upload("one more", "x".repeat(10_000)), 507, "storage_full");
    await org.sent("alice", { cid, attachments: [{ name: "small", file_id: small.file_id }] });
    expect((await files.download(small.file_id)).text).toBe("small");
    expect((await node.http("GET", "/readyz")).status).toBe(200);
    free();
    expect((await files.upload("room again", "x".repeat(10_000))).status).toBe(201);
    rmSync(folder, { recursive: true, force: true });
  });
});

test("a node that is killed in the middle of an upload leaves bytes that the next one removes after a day", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "herald-test-"));
  const first = await startHerald({ dataDir });
  const org = await createOrganization(first);
  const folder = join(dataDir, "files");
  const kept = await filesOf(org).uploaded("kept", "kept");
  const count = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length;
  const cut = await cutUpload(org, { declared: 10 * megabyte, sent: 5 * megabyte });
  await eventually(() => count() === 2 || undefined, "the first bytes");
  await first.kill();
  cut();
  const database = new Database(join(dataDir, "herald.db"));
  database.run("UPDATE file_bytes SET changed_at = changed_at - 90000000 WHERE state = 'arriving'");
  database.close();
  await using second = await startHerald({ dataDir });
  await eventually(() => count() === 1 || undefined, "the removal of what nobody needs");
  const again = { ...org, herald: second };
  expect((await filesOf(again).download(kept.file_id)).text).toBe("kept");
  await second.stop();
  rmSync(dataDir, { recursive: true });
});
