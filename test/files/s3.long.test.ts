import { afterAll, describe, expect, test } from "bun:test";
import { eventually } from "../harness/deadline.ts";
import { startS3 } from "../harness/engines/s3.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { filesOf } from "../harness/servers/files.ts";
import { startHerald, TEST_KEY, useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { cutUpload } from "./cut-upload.ts";
import { growthDuring } from "./memory.ts";
import { pattern, patternStream, sha256OfPattern } from "./pattern.ts";

const s3 = await startS3();
afterAll(() => s3?.kill());

const megabyte = 1_048_576;

describe.skipIf(s3 === undefined)("files in a bucket", () => {
  if (s3 === undefined) return;
  const herald = useHerald({ env: { ...s3.settings, HERALD_LIMIT_FILE_BYTES: "0" } });
  const direct = useHerald({ env: { ...s3.settings, HERALD_FILES_S3_REDIRECT: "1" } });

  async function setUp(node = herald()) {
    const org = await createOrganization(node);
    return { org, files: filesOf(org), cid: await org.conversation(["alice", "bob"]) };
  }

  test("are uploaded, read whole and in parts, and removed with their message", async () => {
    const { org, files, cid } = await setUp();
    const before = (await s3.objects()).length;
    const { file_id } = await files.uploaded("a ü.txt", "0123456789");
    expect((await s3.objects()).filter((key) => !key.startsWith("some/prefix/"))).toEqual([]);
    expect(await s3.objects()).toHaveLength(before + 1);
    expect((await files.download(file_id)).text).toBe("0123456789");
    const part = await files.download(file_id, { "Admin-Api-Key": TEST_KEY, Range: "bytes=2-4" });
    expect([part.status, part.headers.get("content-range"), part.text]).toEqual([206, "bytes 2-4/10", "234"]);
    const empty = await files.uploaded("empty", "");
    expect((await files.download(empty.file_id)).text).toBe("");
    const { server_mid } = await org.sent("alice", { cid, attachments: [{ name: "a", file_id }] });
    await org.recalled("alice", cid, server_mid);
    expectProblem(await files.download(file_id), 404, "file_not_found");
  });

  test("of many parts come back as they were, to a slow reader, too, while the node's memory stays flat", async () => {
    const { files } = await setUp();
    const size = 150 * megabyte;
    await files.uploaded("warm", patternStream(20 * megabyte));
    const hash = new Bun.CryptoHasher("sha256");
    let id = "";
    const growth = await growthDuring(herald().pid, async () => {
      const file = await files.uploaded("large", patternStream(size));
      expect(file).toMatchObject({ size, sha256: sha256OfPattern(size) });
      id = file.file_id;
      const answer = await fetch(`${herald().url}/files/${id}`, { headers: { "Admin-Api-Key": TEST_KEY } });
      for await (const piece of answer.body ?? []) hash.update(piece);
    });
    expect(growth).toBeLessThan(100 * megabyte);
    expect(hash.digest("hex")).toBe(sha256OfPattern(size));
    const from = 50 * megabyte - 3;
    const range = `bytes=${from}-${from + 5}`;
    const part = await fetch(`${herald().url}/files/${id}`, {
      headers: { "Admin-Api-Key": TEST_KEY, Range: range },
    });
    expect(Buffer.from(await part.arrayBuffer())).toEqual(Buffer.from(pattern(from, from + 6)));
  });

  test("leave no object and no part of an upload that breaks off", async () => {
    const { org, files } = await setUp();
    await files.uploaded("first", "first");
    const before = await s3.objects();
    for (const sent of [1_000, 30 * megabyte]) {
      const cut = await cutUpload(org, { declared: 50 * megabyte, sent });
      if (sent > megabyte) await eventually(async () => (await s3.unfinished()) > 0 || undefined, "the first part");
      cut();
      await eventually(async () => (await s3.unfinished()) === 0 || undefined, "the end of the upload");
    }
    expect(await s3.objects()).toEqual(before);
  });

  test("are read from the store itself by addresses that are valid for a minute, if that is set", async () => {
    const { files } = await setUp(direct());
    const { file_id } = await files.uploaded("a ü.html", "<script>", { type: "text/html" });
    const headers = { "Admin-Api-Key": TEST_KEY };
    const answer = await fetch(`${direct().url}/files/${file_id}`, { headers, redirect: "manual" });
    expect(answer.status).toBe(302);
    const address = new URL(answer.headers.get("location") ?? "");
    expect(address.searchParams.get("X-Amz-Expires")).toBe("60");
    const read = await fetch(address);
    expect([await read.text(), read.headers.get("content-disposition")]).toEqual([
      "<script>",
      "attachment; filename=\"a ?.html\"; filename*=UTF-8''a%20%C3%BC.html",
    ]);
  });
});

describe.skipIf(s3 === undefined)("while the store is away", () => {
  test("uploads and downloads are answered with 503, and sends go on", async () => {
    const own = await startS3();
    if (own === undefined) return;
    await using node = await startHerald({ env: own.settings });
    const org = await createOrganization(node);
    const files = filesOf(org);
    const cid = await org.conversation(["alice"]);
    const { file_id } = await files.uploaded("a", "text");
    await own.kill();
    expectProblem(await files.upload("b", "text"), 503, "unavailable");
    expectProblem(await files.download(file_id), 503, "unavailable");
    await org.sent("alice", { cid, body: "goes on", attachments: [{ name: "a", file_id }, { name: "later" }] });
    expect((await node.http("GET", "/readyz")).status).toBe(200);
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["goes on"]);
  });
});
