import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { inTime } from "../../lib/time/in-time.ts";
import type { FileBytes } from "./ports.ts";

/** A bucket of an S3-compatible store. `prefix` begins the key of each object. */
export type Bucket = {
  name: string;
  prefix: string;
  /** `undefined`: that of Amazon S3 in the region. */
  endpoint: string | undefined;
  region: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
  /** Whether clients read from the store itself, by addresses that are valid for a minute. */
  isReadDirectly: boolean;
};

const partBytes = 8 * 1024 * 1024; // 10,000 parts at most make 80 GB
const partsAtOnce = 2;
const readBytes = 2 * 1024 * 1024;
const addressSeconds = 60;

/**
 * After how many milliseconds without an answer the store counts as away: to a request, until it takes more of an upload,
 * and until an upload in parts is complete.
 */
export type Patience = { answerMs: number; partMs: number; completionMs: number };

const defaultPatience: Patience = { answerMs: 30_000, partMs: 60_000, completionMs: 120_000 };

/** Failures that only an operator can end: they are shown as `internal`, and logged. */
const misconfigured =
  /^(AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|NoSuchBucket|AuthorizationHeaderMalformed)$/;
const full = /^(XMinioStorageFull|QuotaExceeded|InsufficientStorage|EntityTooLarge)$/;

/**
 * Stores the bytes of files in a bucket. Each has an object named by the id of its bytes, which Herald made. Long ones are uploaded
 * in parts, of which nothing stays if the upload breaks off.
 */
export function createS3Bytes(
  { name: bucket, prefix, endpoint, region, isReadDirectly, ...keys }: Bucket,
  patience = defaultPatience,
): FileBytes {
  const client = new Bun.S3Client({
    bucket,
    ...keys,
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
  });
  const keyOf = (id: string) => (prefix === "" ? id : `${prefix}/${id}`);
  const answered = <Result>(work: Promise<Result>) => translated(inTime(work, patience.answerMs, away()));

  return {
    async write(id, pieces) {
      const options = { partSize: partBytes, queueSize: partsAtOnce, retry: 2, type: "application/octet-stream" };
      const watched = watch(pieces, patience);
      const sent = client.write(keyOf(id), new Response(streamOf(watched.pieces)), options);
      try {
        await translated(Promise.race([sent, watched.stall]));
      } catch (error) {
        void sent.then(() => client.delete(keyOf(id))).catch(() => undefined); // if it is stored after all
        throw error;
      } finally {
        watched.end();
      }
    },
    async read(id) {
      const file = client.file(keyOf(id));
      if (!(await answered(file.exists()))) return undefined;
      const partOf = (start: number, end: number) => answered(file.slice(start, end).bytes());
      return {
        part: (start, end) => streamOf(readParts(partOf, start, end)),
        ...(isReadDirectly && {
          addressAs: ({ disposition, type }) =>
            file.presign({ expiresIn: addressSeconds, method: "GET", contentDisposition: disposition, type }),
        }),
      };
    },
    async remove(id) {
      await answered(client.delete(keyOf(id)));
    },
  };
}

const away = () => unavailable({ cause: new Error("the store of files does not answer") });

/** Passes pieces on. `stall` rejects if no more is asked for in time, or if it does not end in time after the last one. */
function watch(pieces: AsyncIterable<Uint8Array>, { answerMs, partMs, completionMs }: Patience) {
  const { promise: stall, reject } = Promise.withResolvers<never>();
  stall.catch(() => undefined); // nobody waits for it once the upload has failed otherwise
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStalled = false;
  const wait = (ms: number) => {
    timer = setTimeout(() => {
      isStalled = true;
      reject(away());
    }, ms);
  };
  async function* passing(): AsyncGenerator<Uint8Array, void> {
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      wait(partMs);
      yield piece;
      clearTimeout(timer);
      if (isStalled) throw away();
    }
    wait(bytes < partBytes ? answerMs : completionMs);
  }
  return { pieces: passing(), stall, end: () => clearTimeout(timer) };
}

/** Reads in requests of their own, as a stream of Bun's client takes all that comes, however slowly it is read. */
async function* readParts(
  partOf: (start: number, end: number) => Promise<Uint8Array>,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void> {
  for (let from = start; from < end; from += readBytes) yield await partOf(from, Math.min(end, from + readBytes));
}

/** A stream that asks for a piece when its reader wants one, and ends the pieces when the reader leaves. */
function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

async function translated<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && typeof error.code === "string")) throw error;
    if (error instanceof HeraldError || misconfigured.test(error.code)) throw error;
    throw full.test(error.code)
      ? new HeraldError("storage_full", undefined, { cause: error })
      : unavailable({ cause: error });
  }
}
