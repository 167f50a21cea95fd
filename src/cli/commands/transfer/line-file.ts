import { createReadStream, statSync } from "node:fs";
import { CliError, exitCodes } from "../../exit-codes.ts";
import { createProgressLine, type ProgressLine } from "../../output/progress-line.ts";

/** A file of lines that is being sent, and how far that is. */
export type LineFile = { bytes: AsyncGenerator<Uint8Array, void>; progress: ProgressLine };

const pieceBytes = 256 * 1024;

/** Opens a file of lines, or standard input for `-`. Throws a `CliError` if it cannot be read. */
export function openLineFile(file: string): LineFile {
  const progress = createProgressLine({ totalBytes: file === "-" ? undefined : sizeOf(file), unit: "lines" });
  return { bytes: read(file, progress), progress };
}

async function* read(file: string, progress: ProgressLine): AsyncGenerator<Uint8Array, void> {
  const stream: AsyncIterable<Uint8Array> =
    file === "-" ? Bun.stdin.stream() : createReadStream(file, { highWaterMark: pieceBytes });
  for await (const piece of stream) {
    progress.addBytes(piece.length);
    yield piece;
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw new CliError(exitCodes.usage, `${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
