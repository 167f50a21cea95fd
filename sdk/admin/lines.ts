import type { ErrorCode } from "../error-codes.ts";
import { type FieldError, HeraldApiError } from "../errors.ts";
import { sleep } from "../waiting/timers.ts";
import type { CallOptions } from "./exchange.ts";
import { openLines, unreachable } from "./http.ts";

/** A problem that the server reports of a line, or of a whole import. */
export type LineProblem = {
  /** The HTTP status. */
  status: number;
  /** What went wrong, for programs. */
  code: ErrorCode;
  /** What the code means, always in the same words. */
  title?: string;
  /** What went wrong, for people. */
  detail: string;
  /** Each invalid value. */
  errors?: FieldError[];
};

/**
 * A line of the report of an import: how far it is, after each thousand lines; a line that was not imported; and the end. If `done`
 * is false, the import ended early, and all lines must be sent again.
 */
export type ImportReport =
  | {
      /** How many lines were read. */
      lines: number;
      /** How many of them were not imported. */
      failed: number;
    }
  | {
      /** The number of a line that was not imported. */
      line: number;
      /** What is wrong with it. */
      problem: LineProblem;
    }
  | {
      /** Whether all lines were imported or reported. */
      done: boolean;
      /** How many lines were read. */
      lines: number;
      /** How many of them were not imported. */
      failed: number;
      /** Why the import ended early. */
      problem?: LineProblem;
    };

/** The options of an import. When `signal` breaks it off, what it has reported is stored. */
export type ImportOptions = CallOptions & {
  /** Checks the lines and stores nothing. */
  dryRun?: boolean | undefined;
};

/** Lines as bytes, however they are cut. */
export type LineBytes = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** What is sent line by line: an array, or what a generator makes while it is sent. */
export type Values<Value> = Iterable<Value> | AsyncIterable<Value>;

type LinesCall = Omit<Parameters<typeof openLines>[0], "body" | "signal"> & {
  /** The lines to send. */
  lines?: LineBytes | undefined;
  signal?: AbortSignal | undefined;
};

const valuesOfPiece = 50;
const mayTakeMs = 5;

/**
 * Yields the bytes of a response of lines as they come. Throws `HeraldApiError` if the server refuses the call, `unreachable` if the
 * response breaks off, the reason of `signal`, or what `lines` throws. Nothing more is taken from `lines` once the caller stops.
 */
export async function* callForLines({ lines, signal, ...call }: LinesCall): AsyncGenerator<Uint8Array, void> {
  signal?.throwIfAborted();
  const over = new AbortController();
  const abort = () => over.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  const upload = lines === undefined ? undefined : startUpload(lines, over.signal);
  try {
    const opened = await openLines({ ...call, body: upload?.body, signal: over.signal });
    if ("error" in opened) throw opened.error;
    yield* readBytes(opened.body);
  } catch (cause) {
    signal?.throwIfAborted();
    if (upload?.failure !== undefined) throw upload.failure.error;
    throw cause instanceof HeraldApiError ? cause : unreachable(call.url, "the response broke off", cause).error;
  } finally {
    signal?.removeEventListener("abort", abort);
    over.abort(); // else the upload goes on: in Node 20 for ever, and without a turn for anything else
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

/** Yields the lines of values, as bytes: one at a time if they may be long in coming, else many. */
export async function* writeLines(values: Values<object>): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  const isAsync = Symbol.asyncIterator in values;
  let text = "";
  let count = 0;
  for await (const value of values) {
    text += `${JSON.stringify(value)}\n`;
    count++;
    if (!isAsync && count % valuesOfPiece !== 0) continue;
    yield encoder.encode(text);
    text = "";
  }
  if (text !== "") yield encoder.encode(text);
}

/**
 * The body of a request, which takes the lines as fast as they are sent, and no more once `signal` aborts. `failure` holds what
 * `lines` threw.
 */
function startUpload(lines: LineBytes, signal: AbortSignal) {
  const iterator = lines instanceof ReadableStream ? readBytes(lines) : lines[Symbol.asyncIterator]();
  let turnAt = performance.now();
  let isOver = false;
  const upload: { body: ReadableStream<Uint8Array>; failure: { error: unknown } | undefined } = {
    failure: undefined,
    body: new ReadableStream<Uint8Array>(
      {
        start(controller) {
          signal.addEventListener("abort", () => {
            controller.error(signal.reason);
            void finish();
          });
        },
        async pull(controller) {
          try {
            // In Node, a socket that takes everything lets nothing else run, not even what reads the answers.
            if (performance.now() - turnAt > mayTakeMs) {
              await sleep(0);
              turnAt = performance.now();
            }
            if (signal.aborted) return;
            const { done, value } = await iterator.next();
            if (signal.aborted || isOver) return; // a body that was cancelled can no longer be closed
            if (done === true) controller.close();
            else controller.enqueue(value);
          } catch (error) {
            if (signal.aborted) return;
            upload.failure = { error };
            controller.error(error);
          }
        },
        cancel: finish,
      },
      { highWaterMark: 0 },
    ),
  };

  async function finish(): Promise<void> {
    isOver = true;
    try {
      await iterator.return?.();
    } catch {
      // The call has ended already, with a result or an error of its own.
    }
  }

  return upload;
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
