import { createReadStream, statSync } from "node:fs";
import { CliError, exitCodes } from "../../exit-codes.ts";
import { createProgressLine, type ProgressLine } from "../../output/progress-line.ts";

const pieceBytes = 256 * 1024;

/** Opens a file of lines, or standard input for `-`, and tells how far it is sent. Throws a `CliError` if it cannot be read. */
export function openLineFile(file: string) {
  const progress = createProgressLine(file === "-" ? undefined : sizeOf(file));
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
