import { afterAll, describe, expect, test } from "bun:test";
import { createAdmin } from "../../sdk/admin.ts";
import { startSpoiltLine } from "../harness/clients/spoilt-line.ts";
import { openUnreadStream } from "../harness/clients/unread-stream.ts";
import { eventually } from "../harness/deadline.ts";
import { s3Settings, startS3 } from "../harness/engines/s3.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { readMetrics, sampleOf } from "../harness/reading/metrics.ts";
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

  test("of many parts come back as they were, while the node's memory stays flat, also for one who does not read them", async () => {
    const { files } = await setUp();
    const size = 150 * megabyte;
    await files.uploaded("warm", patternStream(20 * megabyte));
    const hash = new Bun.CryptoHasher("sha256");
    let id = "";
    const growth = await growthDuring(herald().pid, async () => {
      const file = await files.uploaded("large", patternStream(size));
      expect(file).toMatchObject({ size, sha256: sha256OfPattern(size) });
      id = file.file_id;
      using _unread = await openUnreadStream(herald().url, `/files/${id}`, { "Admin-Api-Key": TEST_KEY });
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
    const known = await fetch(`${direct().url}/files/${file_id}`, { method: "HEAD", headers, redirect: "manual" });
    expect([known.status, known.headers.get("content-length")]).toEqual([200, "8"]); // an address is signed for GET alone
    const admin = createAdmin({ url: direct().url, key: TEST_KEY });
    expect(await (await admin.download(file_id)).text()).toBe("<script>");
    const read = await fetch(address);
    expect([await read.text(), read.headers.get("content-disposition")]).toEqual([
      "<script>",
      "attachment; filename=\"a ?.html\"; filename*=UTF-8''a%20%C3%BC.html",
    ]);
  });
});

describe.skipIf(s3 === undefined)("while the store is away", () => {
  test("uploads and downloads are answered with 503 and counted, and sends go on; afterwards, all of them do", async () => {
    const line = await startSpoiltLine(s3?.port ?? 0);
    await using node = await startHerald({ env: s3Settings(`http://127.0.0.1:${line.port}`) });
    const org = await createOrganization(node);
    const files = filesOf(org);
    const cid = await org.conversation(["alice"]);
    const { file_id } = await files.uploaded("a", "text");
    line.cut();
    const refused = await files.upload("b", "text");
    expectProblem(refused, 503, "unavailable");
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expectProblem(await files.download(file_id), 503, "unavailable");
    await org.sent("alice", { cid, body: "goes on", attachments: [{ name: "a", file_id }, { name: "later" }] });
    expect((await node.http("GET", "/readyz")).status).toBe(200);
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(["goes on"]);
    const { samples } = readMetrics((await node.http<string>("GET", "/metrics")).text);
    const failures = (operation: string) => sampleOf(samples, "herald_file_store_failures_total", { operation });
    expect([failures("write"), failures("read")]).toEqual([1, 1]);
    expect(sampleOf(samples, "herald_file_uploads_total", { result: "failed" })).toBe(1);
    await line.mend();
    expect((await files.download(file_id)).text).toBe("text");
    expect((await files.upload("b", "text")).status).toBe(201);
    const told = node.logLines().filter(({ dependency }) => dependency === "files");
    expect(told.map(({ level }) => level)).toEqual([40, 30]);
    expect(told[0]).toMatchObject({
      address: expect.stringMatching(/^s3:/),
      msg: expect.stringContaining("messages go on"),
    });
    expect(told[1]).toMatchObject({ away_ms: expect.any(Number), msg: expect.stringContaining("back after") });
    line.stop();
  });

  test("a download that it breaks off in the middle ends early, and goes on from there once it is back", async () => {
    const line = await startSpoiltLine(s3?.port ?? 0);
    await using node = await startHerald({ env: s3Settings(`http://127.0.0.1:${line.port}`) });
    const files = filesOf(await createOrganization(node));
    const size = 20 * megabyte;
    const { file_id } = await files.uploaded("large", patternStream(size));
    const headers = { "Admin-Api-Key": TEST_KEY };
    const read = async (from: number, onPiece = () => {}) => {
      const pieces: Uint8Array[] = [];
      const range = { ...headers, Range: `bytes=${from}-` };
      const answer = await fetch(`${node.url}/files/${file_id}`, { headers: range });
      try {
        for await (const piece of answer.body ?? []) {
          pieces.push(piece);
          onPiece();
        }
      } catch {
        return { bytes: Buffer.concat(pieces), isWhole: false };
      }
      return { bytes: Buffer.concat(pieces), isWhole: true };
    };
    const first = await read(0, () => line.cut());
    expect(first.isWhole).toBe(false);
    expect(first.bytes.length).toBeLessThan(size);
    await line.mend();
    const rest = await read(first.bytes.length);
    const whole = Buffer.concat([first.bytes, rest.bytes]);
    expect(new Bun.CryptoHasher("sha256").update(whole).digest("hex")).toBe(sha256OfPattern(size));
    line.stop();
  });
});
