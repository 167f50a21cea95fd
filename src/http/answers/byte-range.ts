/** A part of a file: from `start` up to, but without, `end`. */
export type ByteRange = { start: number; end: number };

/**
 * The part that a request for a file of `size` bytes asks for (RFC 9110, section 14). `undefined`: all of it, also for what a
 * server may ignore: other units, several ranges, and an `If-Range` that does not match. `unsatisfiable`: it lies beyond the end.
 */
export function rangeOf(
  headers: Headers,
  { size, etag }: { size: number; etag: string },
): ByteRange | "unsatisfiable" | undefined {
  const ifRange = headers.get("if-range");
  if (ifRange !== null && ifRange !== etag) return undefined;
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get("range") ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") return Number(last) === 0 ? "unsatisfiable" : partOf(Math.max(0, size - Number(last)), size, size);
  if (last !== "" && Number(last) < Number(first)) return undefined;
  return partOf(Number(first), last === "" ? size : Number(last) + 1, size);
}

function partOf(start: number, end: number, size: number): ByteRange | "unsatisfiable" {
  return start >= size ? "unsatisfiable" : { start, end: Math.min(end, size) };
}

/** Whether `If-None-Match` names the entity tag, so that the client has it already (RFC 9110, section 13.1.2). */
export function isKnown(headers: Headers, etag: string): boolean {
  const tags = (headers.get("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}
