import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { cutUpload } from "../../files/cut-upload.ts";
import { eventually } from "../../harness/deadline.ts";
import { uniqueId } from "../../harness/random.ts";
import { expectProblem, ISO_MILLISECONDS, UUID_V7 } from "../../harness/reading/expectations.ts";
import { filesOf } from "../../harness/servers/files.ts";
import { TEST_KEY, useHerald } from "../../harness/servers/herald.ts";
import { createKey } from "../../harness/servers/keys.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const folder = mkdtempSync(join(tmpdir(), "herald-files-"));
const herald = useHerald({ env: { HERALD_LIMIT_FILE_BYTES: "100000", HERALD_FILES_URL: `file://${folder}` } });
afterAll(() => rmSync(folder, { recursive: true }));

async function setUp() {
  const org = await createOrganization(herald());
  return { org, files: filesOf(org), cid: await org.conversation(["alice", "bob"]) };
}

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

describe("an upload", () => {
  test("stores the bytes with their name and type, and answers with what they are", async () => {
    const { files } = await setUp();
    const answer = await files.upload("grüße €.txt", "hello", { type: "text/plain; charset=utf-8" });
    expect(answer.status).toBe(201);
    expect(answer.body as unknown).toEqual({
      file_id: expect.stringMatching(UUID_V7),
      name: "grüße €.txt",
      size: 5,
      content_type: "text/plain; charset=utf-8",
      sha256: sha256("hello"),
      created_at: expect.stringMatching(ISO_MILLISECONDS),
    });
    expect((await files.get(answer.body.file_id)).text).toBe(answer.text);
    expect((await files.download(answer.body.file_id)).text).toBe("hello");
  });

  test("may be empty, and needs no media type", async () => {
    const { org, files } = await setUp();
    const target = `${org.path("files")}?name=empty`;
    const answer = await herald().http<{ file_id: string }>("POST", target, { headers: { "Admin-Api-Key": TEST_KEY } });
    expect(answer.body).toMatchObject({ size: 0, content_type: "application/octet-stream", sha256: sha256("") });
    const download = await files.download(answer.body.file_id);
    expect([download.status, download.text]).toEqual([200, ""]);
  });

  test("may be larger than other requests, but not than its limit, whether it says so or not", async () => {
    const { files } = await setUp();
    expect((await files.upload("most", "a".repeat(100_000))).body.size).toBe(100_000);
    expectProblem(await files.upload("more", "a".repeat(100_001)), 413, "payload_too_large");
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
    });
    expectProblem(await files.upload("endless", endless), 413, "payload_too_large");
  });

  test("that goes on when its key is revoked stores nothing, and replaces nothing", async () => {
    const { org, files } = await setUp();
    const { file_id } = await files.uploaded("a", "before");
    const { id, key } = await createKey(herald(), { organization: org.id });
    const stored = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    const count = stored().length;
    const goOn = Promise.withResolvers<void>();
    const body = () =>
      new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(new Uint8Array(50_000));
          await goOn.promise;
          controller.enqueue(new Uint8Array(1));
          controller.close();
        },
      });
    const answers = [files.put(file_id, body(), { key }), files.upload("b", body(), { key })];
    await eventually(async () => stored().length === count + answers.length || undefined, "both uploads to have begun");
    await herald().admin("DELETE", `/admin/keys/${id}`);
    const known = () => herald().http("GET", org.path(), { headers: { "Admin-Api-Key": key } });
    const nodes = [0, 1, 2];
    const isRefused = async () =>
      (await Promise.all(nodes.map(known))).every(({ status }) => status === 401) || undefined;
    await eventually(isRefused, "each node to refuse the key");
    goOn.resolve();
    for (const answer of answers) expectProblem(await answer, 401, "unauthorized");
    expect((await files.download(file_id)).text).toBe("before");
  });

  test("counts toward what the organization may store, until it is removed", async () => {
    const { org, files } = await setUp();
    const limited = (stored_bytes: number | null) => herald().admin("PUT", org.path(), { limits: { stored_bytes } });
    const usage = async () =>
      (await herald().admin<{ usage: { stored_bytes: number } }>("GET", org.path())).body.usage.stored_bytes;
    const before = await usage();
    const { file_id } = await files.uploaded("a", "a".repeat(10_000));
    expect(await usage()).toBe(before + 10_000);
    const copy = await files.uploaded("copy", "a".repeat(10_000));
    expect(await usage()).toBe(before + 10_000); // the same content is stored once
    expect((await limited(before + 15_000)).status).toBe(200);
    const isRefused = async () => {
      const answer = await files.upload("b", "b".repeat(9_000));
      if (answer.status === 201) return void (await files.remove(answer.body.file_id)); // this node has not heard of the limit yet
      expectProblem(answer, 422, "invalid_request");
      return true;
    };
    await eventually(isRefused, "the refusal of a file");
    expect((await files.remove(file_id)).status).toBe(204);
    expect((await files.download(copy.file_id)).text).toBe("a".repeat(10_000));
    expect((await files.remove(copy.file_id)).status).toBe(204);
    expect(await usage()).toBe(before);
    const becomesFree = async () => ((await files.upload("b", "b".repeat(9_000))).status === 201 ? true : undefined);
    await eventually(becomesFree, "room for a file");
  });

  test("without a declared length ends as soon as the organization has no room for more", async () => {
    const { org, files } = await setUp();
    const { usage } = (await herald().admin<{ usage: { stored_bytes: number } }>("GET", org.path())).body;
    await herald().admin("PUT", org.path(), { limits: { stored_bytes: usage.stored_bytes + 30_000 } });
    const chunked = (pieces: number) => {
      let left = pieces;
      return new ReadableStream<Uint8Array>({
        pull: (controller) => (left-- > 0 ? controller.enqueue(new Uint8Array(1_000)) : controller.close()),
      });
    };
    const isRefused = async () => {
      // 413 `payload_too_large` comes at 100,000: from a node that has not heard of the limit yet
      const answer = await files.upload("endless", chunked(Number.POSITIVE_INFINITY));
      return answer.status === 413 ? undefined : answer;
    };
    expectProblem(await eventually(isRefused, "the refusal of a file"), 422, "invalid_request");
    expect((await files.upload("fits", chunked(20))).body.size).toBe(20_000);
  });

  test("that breaks off leaves nothing", async () => {
    const { org, files } = await setUp();
    const count = () =>
      readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length;
    await files.uploaded("first", "first");
    const before = count();
    const cut = await cutUpload(org, { declared: 90_000, sent: 60_000 });
    await eventually(() => count() > before || undefined, "the first bytes of the upload");
    cut();
    await eventually(() => count() === before || undefined, "their removal");
  });

  test("needs an existing organization, a name, and the scope files:write", async () => {
    const { org, files } = await setUp();
    const headers = { "Admin-Api-Key": TEST_KEY };
    const nowhere = await herald().http("POST", `/admin/organizations/${uniqueId("org")}/files?name=a`, {
      body: "a",
      headers,
    });
    expectProblem(nowhere, 404, "organization_not_found");
    expectProblem(await herald().http("POST", org.path("files"), { body: "a", headers }), 422, "invalid_request");
    expectProblem(await files.upload("a\u0000", "a"), 422, "invalid_request");
    expectProblem(await files.upload("a", "a", { type: "not a type" }), 400, "bad_request");
    const { key } = await createKey(herald(), { scopes: ["history:read", "message:send"] });
    expectProblem(await files.upload("a", "a", { key }), 403, "insufficient_scope");
  });
});

describe("a file and a message", () => {
  test("a send names a file of its organization, and no other", async () => {
    const { org, files, cid } = await setUp();
    const other = await setUp();
    const { file_id } = await files.uploaded("a.txt", "a");
    const theirs = await other.files.uploaded("a.txt", "a");
    for (const id of ["nothing", Bun.randomUUIDv7(), theirs.file_id]) {
      const message = { cid, body: "no", attachments: [{ name: "a" }, { name: "b", file_id: id }] };
      expectProblem(await org.send("alice", message), 404, "file_not_found");
    }
    await org.sent("alice", { cid, attachments: [{ name: "b.txt", file_id }] });
    const [message, ...others] = await org.history(cid);
    expect(message?.attachments).toEqual([{ file_id, file_name: "b.txt" }]);
    expect(others).toEqual([]);
  });

  test("a send announces a file, whose bytes may be uploaded afterwards", async () => {
    const { org, files, cid } = await setUp();
    await org.sent("alice", { cid, attachments: [{ name: "later.png", size: 3, content_type: "image/png" }] });
    const id = (await org.history(cid))[0]?.attachments[0]?.file_id ?? "";
    expect((await files.get(id)).body).toMatchObject({
      name: "later.png",
      size: 3,
      content_type: "image/png",
      sha256: null,
    });
    expectProblem(await files.download(id), 404, "file_not_found");
    const first = await files.put(id, "bytes", { type: "image/webp" });
    expect([first.status, first.body.size, first.body.content_type]).toEqual([201, 5, "image/webp"]);
    expect((await files.download(id)).text).toBe("bytes");
    const second = await files.put(id, "other bytes");
    expect([second.status, second.body.size]).toEqual([200, 11]);
    expect((await files.download(id)).text).toBe("other bytes");
    expectProblem(await files.put(Bun.randomUUIDv7(), "x"), 404, "file_not_found");
  });

  test("a file goes with the message that is taken back, but not while another names it", async () => {
    const { org, files, cid } = await setUp();
    const { file_id } = await files.uploaded("a.txt", "a");
    const attachments = [{ name: "a.txt", file_id }];
    const first = await org.sent("alice", { cid, attachments });
    const second = await org.sent("bob", { cid, attachments });
    const token = { Authorization: `Bearer ${await org.token("bob")}` };
    await org.recalled("alice", cid, first.server_mid);
    expect((await files.download(file_id, token)).text).toBe("a");
    await org.recalled("bob", cid, second.server_mid);
    expectProblem(await files.download(file_id, token), 404, "file_not_found");
    expectProblem(await files.download(file_id), 404, "file_not_found");
    expectProblem(await org.send("alice", { cid, attachments }), 404, "file_not_found");
  });

  test("a retry is answered like the first also when the file is gone", async () => {
    const { org, files, cid } = await setUp();
    const { file_id } = await files.uploaded("a.txt", "a");
    const message = { id: "m", cid, attachments: [{ name: "a.txt", file_id }] };
    const first = await org.sent("alice", message);
    await files.remove(file_id);
    expect(await org.sent("alice", message)).toEqual(first);
  });
});

describe("a download", () => {
  test("is saved under its name and never run", async () => {
    const { files } = await setUp();
    const { file_id } = await files.uploaded('a "ü" €/..\\x.html', "<script>", { type: "text/html" });
    const { headers } = await files.download(file_id);
    const name = `attachment; filename="a \\"?\\" ?_.._x.html"; filename*=UTF-8''a%20%22%C3%BC%22%20%E2%82%AC_.._x.html`;
    expect(headers.get("content-disposition")).toBe(name);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(headers.get("content-type")).toBe("text/html");
  });

  test("gives parts, and nothing that the client has already", async () => {
    const { files } = await setUp();
    const { file_id } = await files.uploaded("a", "0123456789");
    const ask = async (headers: Record<string, string>) => {
      const answer = await files.download(file_id, { "Admin-Api-Key": TEST_KEY, ...headers });
      return [answer.status, answer.headers.get("content-range"), answer.status === 416 ? "" : answer.text];
    };
    const etag = `"${sha256("0123456789")}"`;
    expect(await ask({ Range: "bytes=2-4" })).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await ask({ Range: "bytes=7-" })).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await ask({ Range: "bytes=-2" })).toEqual([206, "bytes 8-9/10", "89"]);
    expect(await ask({ Range: "bytes=10-" })).toEqual([416, "bytes */10", ""]);
    expect(await ask({ Range: "bytes=0-1", "If-Range": etag })).toEqual([206, "bytes 0-1/10", "01"]);
    expect(await ask({ Range: "bytes=0-1", "If-Range": '"other"' })).toEqual([200, null, "0123456789"]);
    expect(await ask({ "If-None-Match": etag })).toEqual([304, null, ""]);
    const head = await herald().http("HEAD", `/files/${file_id}`, { headers: { "Admin-Api-Key": TEST_KEY } });
    expect([head.status, head.headers.get("content-length"), head.text]).toEqual([200, "10", ""]);
  });

  test("takes the token of somebody who takes part in a conversation with the file", async () => {
    const { org, files, cid } = await setUp();
    const { file_id } = await files.uploaded("a", "text");
    const bearer = async (uid: string) => ({ Authorization: `Bearer ${await org.token(uid)}` });
    const bob = await bearer("bob");
    expectProblem(await files.download(file_id, bob), 404, "file_not_found"); // no message names it
    await org.sent("alice", { cid, attachments: [{ name: "a", file_id }] });
    expect((await files.download(file_id, bob)).text).toBe("text");
    expectProblem(await files.download(file_id, await bearer("carol")), 404, "file_not_found");
    await org.leave(cid, "bob");
    expectProblem(await files.download(file_id, bob), 404, "file_not_found");
    await org.join(cid, "bob");
    expect((await files.download(file_id, bob)).status).toBe(200);
    await herald().admin("DELETE", org.path("users", "bob", "sessions"));
    expectProblem(await files.download(file_id, bob), 401, "unauthorized");
  });

  test("takes an address that a participant asked for, until the participant leaves, signs out or ten minutes are over", async () => {
    const { org, files, cid } = await setUp();
    const { file_id } = await files.uploaded("a", "text");
    const other = await files.uploaded("b", "other");
    await org.sent("alice", { cid, attachments: [{ name: "a", file_id }] });
    using bob = await org.socket("bob");
    const file_ids = [file_id, other.file_id, "nothing"];
    const { file_urls = {} } = await bob.request("get_file_urls", { file_ids });
    expect(Object.keys(file_urls)).toEqual([file_id]);
    const address = file_urls[file_id] ?? "";
    expect(address).toStartWith("http://");
    expect(await (await fetch(address)).text()).toBe("text");
    const url = address.slice(new URL(address).origin.length);
    const download = (path = url) => herald().http<string>("GET", path, {});
    expect((await download()).text).toBe("text");
    expectProblem(await download(url.replace(file_id, other.file_id)), 401, "unauthorized");
    expectProblem(await download(`${url.slice(0, -4)}AAAA`), 401, "unauthorized");
    const { exp = 0 } = decodeJwt(url.split("signature=")[1] ?? "");
    expect(exp - Date.now() / 1000).toBeWithin(570, 601);
    expectProblem(await files.download(file_id, { Authorization: `Bearer ${url.split("=")[1]}` }), 401, "unauthorized");
    await org.leave(cid, "bob");
    expectProblem(await download(), 404, "file_not_found");
    await org.join(cid, "bob");
    expect((await download()).status).toBe(200);
    await herald().admin("DELETE", org.path("users", "bob", "sessions"));
    expectProblem(await download(), 401, "unauthorized");
  });

  test("is refused to strangers and to keys of other organizations", async () => {
    const { files } = await setUp();
    const other = await setUp();
    const { file_id } = await files.uploaded("a", "text");
    expectProblem(await files.download(file_id, {}), 401, "unauthorized");
    expectProblem(await files.download(file_id, { Authorization: "Bearer x" }), 401, "unauthorized");
    expectProblem(await herald().http("GET", `/files/${file_id}?signature=x`), 401, "unauthorized");
    const bound = await createKey(herald(), { organization: other.org.id });
    expectProblem(await files.download(file_id, { "Admin-Api-Key": bound.key }), 404, "file_not_found");
    const blind = await createKey(herald(), { scopes: ["files:write"] });
    expectProblem(await files.download(file_id, { "Admin-Api-Key": blind.key }), 403, "insufficient_scope");
  });
});
