import { afterEach, expect, test } from "bun:test";
import { eventually } from "../../../test/harness/deadline.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import { createS3Bytes } from "./s3.ts";

const patience = { answerMs: 50, partMs: 50, completionMs: 50 };
const mebibyte = 2 ** 20;

/** A store that answers nothing until `wake`, and then everything with success. */
function startSleepyStore() {
  const seen: string[] = [];
  const { promise: awake, resolve: wake } = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      await awake;
      await request.bytes();
      seen.push(request.method);
      return new Response(null, { headers: { ETag: '"etag"' } });
    },
  });
  open.push(() => {
    wake();
    void server.stop(true);
  });
  const bucket = { name: "bucket", prefix: "", region: undefined, isReadDirectly: false };
  const keys = { accessKeyId: "id", secretAccessKey: "secret" };
  return { bytes: createS3Bytes({ ...bucket, ...keys, endpoint: server.url.href }, patience), seen, wake };
}

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function* pieces(count: number) {
  for (let index = 0; index < count; index++) yield new Uint8Array(mebibyte);
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof HeraldError ? error.code : undefined;
}

test("a store that does not answer is away: for an upload in one request or in parts, a download and a removal", async () => {
  const { bytes } = startSleepyStore();
  const work = [bytes.write("a", pieces(1)), bytes.write("b", pieces(40)), bytes.read("a"), bytes.remove("a")];
  expect(await Promise.all(work.map(codeOf))).toEqual(work.map(() => "unavailable"));
});

test("an upload that the store keeps after it counted as failed is removed", async () => {
  const { bytes, seen, wake } = startSleepyStore();
  expect(await codeOf(bytes.write("a", pieces(1)))).toBe("unavailable");
  wake();
  await eventually(() => seen.includes("DELETE") || undefined, "the removal");
  expect(seen).toEqual(["PUT", "DELETE"]);
});

test("an upload waits for its caller as long as that takes", async () => {
  const { bytes, wake } = startSleepyStore();
  wake();
  async function* slowly() {
    yield new Uint8Array(10);
    await Bun.sleep(3 * patience.partMs);
    yield new Uint8Array(10);
  }
  await bytes.write("a", slowly());
});
