import { HeraldError } from "../../contract/errors/errors.ts";
import { linesType } from "../../contract/transfer/lines.ts";
import type { LineBlock } from "../../services/transfer/imports.ts";

const types = new Set([linesType, "application/ndjson", "application/jsonl", "application/json-lines"]);
const blockBytes = 64 * 1024;
const lineFeed = 0x0a;

/** Whether a body consists of lines of JSON. */
export function isOfLines(contentType: string | null): boolean {
  const [type = ""] = (contentType ?? "").toLowerCase().split(";");
  return types.has(type.trim());
}

/** Throws `unsupported_media_type` unless a body consists of lines of JSON. */
export function requireLines(contentType: string | null): void {
  if (!isOfLines(contentType)) throw new HeraldError("unsupported_media_type", `send \`Content-Type: ${linesType}\``);
}

/**
 * Reads a body line by line, as fast as blocks are taken: meanwhile the socket is not read. Holds one line, or some 64 KiB of
 * them, besides what the socket handed over. A blank line has a number, too. When the caller stops early, the body can be read on.
 */
export async function* readLines(
  body: ReadableStream<Uint8Array> | null,
  maxLineBytes: number,
): AsyncGenerator<LineBlock, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let first = 1;
  let rest: Uint8Array[] = []; // the beginning of a line
  let restBytes = 0;

  function decode(bytes: Uint8Array): string | HeraldError {
    if (bytes.length > maxLineBytes) return tooLong(maxLineBytes);
    try {
      return decoder.decode(bytes);
    } catch {
      return new HeraldError("malformed_json", "the line is not valid UTF-8");
    }
  }

  /** The lines in bytes that end with one: decoded at once, unless one of them cannot be. */
  function linesIn(bytes: Uint8Array): (string | HeraldError)[] {
    if (bytes.length <= maxLineBytes) {
      const text = decode(bytes);
      if (typeof text === "string") return text.split("\n");
    }
    const lines: (string | HeraldError)[] = [];
    for (let from = 0; from <= bytes.length; ) {
      const end = bytes.indexOf(lineFeed, from);
      const upTo = end === -1 ? bytes.length : end;
      lines.push(decode(bytes.subarray(from, upTo)));
      from = upTo + 1;
    }
    return lines;
  }

  function blockOf(lines: (string | HeraldError)[], bytes: number): LineBlock {
    const block = { first, lines, bytes };
    first += lines.length;
    return block;
  }

  /** Keeps the beginning of a line; of one that is too long, only that it is. */
  function keep(bytes: Uint8Array): void {
    if (restBytes <= maxLineBytes) rest.push(bytes.slice());
    restBytes += bytes.length;
  }

  function takeRest(end: Uint8Array): LineBlock {
    keep(end);
    const lines = restBytes > maxLineBytes ? [tooLong(maxLineBytes)] : linesIn(Buffer.concat(rest));
    const block = blockOf(lines, restBytes);
    rest = [];
    restBytes = 0;
    return block;
  }

  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    let from = 0;
    if (restBytes > 0) {
      const end = chunk.indexOf(lineFeed);
      if (end === -1) {
        keep(chunk);
        continue;
      }
      yield takeRest(chunk.subarray(0, end));
      from = end + 1;
    }
    while (from < chunk.length) {
      const near = chunk.lastIndexOf(lineFeed, from + blockBytes);
      const end = near >= from ? near : chunk.indexOf(lineFeed, from);
      if (end === -1) break;
      yield blockOf(linesIn(chunk.subarray(from, end)), end - from);
      from = end + 1;
    }
    if (from < chunk.length) keep(chunk.subarray(from));
  }
  if (restBytes > 0) yield takeRest(new Uint8Array());
}

function tooLong(maxBytes: number): HeraldError {
  return new HeraldError("payload_too_large", `a line exceeds the limit of ${maxBytes} bytes; send smaller ones`);
}
