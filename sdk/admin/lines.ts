import type { FieldError } from "../errors.ts";
import { openLines, unreachable } from "./http.ts";

/** A problem that the server reports of a line, or of a whole import. */
export type LineProblem = { status: number; code: string; detail: string; errors?: FieldError[] };

/**
 * A line of the report of an import: how far it is, after each thousand lines; a line that was not imported; and the end. If `done`
 * is false, the import ended early, and all lines must be sent again.
 */
export type ImportReport =
  | { lines: number; failed: number }
  | { line: number; problem: LineProblem }
  | { done: boolean; lines: number; failed: number; problem?: LineProblem };

/** The options of an import. */
export type ImportOptions = {
  /** Checks the lines and stores nothing. */
  dryRun?: boolean | undefined;
  /** Breaks the import off. What it has reported is stored. */
  signal?: AbortSignal | undefined;
};

/** The lines of an import: bytes, however they are cut. */
export type LineBytes = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * Yields the bytes of a response of lines as they come. Throws `HeraldApiError` if the server refuses the call, and `unreachable`
 * if the response breaks off.
 */
export async function* callForLines(call: Parameters<typeof openLines>[0]): AsyncGenerator<Uint8Array, void> {
  const opened = await openLines(call);
  if ("error" in opened) throw opened.error;
  try {
    yield* readBytes(opened.body);
  } catch (cause) {
    throw unreachable(call.url, "the response broke off", cause).error;
  }
}

/** Yields the report of an import, whose last line is the end. */
export async function* readReport(
  bytes: AsyncGenerator<Uint8Array, void>,
  url: string,
): AsyncGenerator<ImportReport, void> {
  let isEnded = false;
  for await (const report of readLines<ImportReport>(bytes)) {
    isEnded = "done" in report;
    yield report;
  }
  if (!isEnded) throw unreachable(url, "the response ended before the import").error;
}

/** Yields the values of a response with one JSON value on each line, however its bytes are cut. */
export async function* readLines<Line>(bytes: AsyncGenerator<Uint8Array, void>): AsyncGenerator<Line, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

/** A stream of the bytes, which are taken as fast as they are sent. */
export function toStream(bytes: LineBytes): ReadableStream<Uint8Array> {
  if (bytes instanceof ReadableStream) return bytes;
  const iterator = bytes[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

async function* readBytes(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined); // has ended, or nobody reads it any more
  }
}
