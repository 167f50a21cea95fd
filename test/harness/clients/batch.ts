import type { Herald } from "../servers/herald.ts";
import type { Problem } from "./wire.ts";

/** A line of the response to a batch. */
export type BatchLine = {
  line: number;
  done?: false;
  status?: number;
  ask?: { mid: string; server_mid: string; t: number };
  ack?: { mid: string; t: number };
  dry_run?: { recipients: number; online: number; unknown_users: string[] };
  replayed?: true;
  problem?: Problem;
};

type Options = { query?: string; key?: string };

/** The bytes of lines; a text is sent as it is. */
export function bytesOfLines(lines: readonly (object | string)[]): Buffer<ArrayBuffer> {
  return Buffer.from(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
}

/** Sends lines in one request and waits for all answers. */
export async function sendBatch(
  herald: Herald,
  lines: readonly (object | string)[] | Uint8Array<ArrayBuffer>,
  { query = "", key = herald.key }: Options = {},
): Promise<{ status: number; answers: BatchLine[]; text: string }> {
  const body = lines instanceof Uint8Array ? lines : bytesOfLines(lines);
  const headers = { "Admin-Api-Key": key, "Content-Type": "application/x-ndjson" };
  const { status, text } = await herald.http<unknown>("POST", `/admin/message/batch${query}`, { body, headers });
  return { status, answers: status === 200 ? answersIn(text) : [], text };
}

/** The answers in a text of whole lines. */
function answersIn(text: string): BatchLine[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** A batch whose lines the test sends as it likes, and whose answers it reads as they come. */
export type OpenBatch = {
  write(...lines: (object | string)[]): void;
  /** Ends the request. */
  end(): void;
  /** The next answer; `undefined` at the end of the response. */
  next(): Promise<BatchLine | undefined>;
  /** Hangs up. */
  leave(): void;
};

/** Opens a batch; resolves once its response has begun. */
export async function openBatch(herald: Herald, { query = "", key = herald.key }: Options = {}): Promise<OpenBatch> {
  const leaving = new AbortController();
  const sending = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const body = new ReadableStream<Uint8Array>({ start: sending.resolve });
  const headers = { "Admin-Api-Key": key, "Content-Type": "application/x-ndjson" };
  const url = `${herald.url}/admin/message/batch${query}`;
  const responding = fetch(url, { method: "POST", body, headers, signal: leaving.signal });
  const controller = await sending.promise;
  const reading = (async function* () {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const piece of (await responding).body ?? []) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* answersIn(lines.join("\n"));
    }
  })();
  responding.catch(() => undefined); // seen by `next`
  return {
    write: (...lines) => controller.enqueue(bytesOfLines(lines)),
    end: () => controller.close(),
    async next() {
      const { done, value } = await reading.next();
      return done ? undefined : value;
    },
    leave: () => leaving.abort(),
  };
}
