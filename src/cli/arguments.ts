import { InvalidArgumentError, Option } from "commander";
import type { AttachmentInput, CustomParameters } from "../../sdk/admin.ts";

/** `--x`: a JSON object, taken unchanged. Numbers that JavaScript would alter are refused. */
export function parseCustomParameters(text: string): CustomParameters {
  let value: unknown;
  try {
    value = JSON.parse(text, refuseAltered);
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    throw new InvalidArgumentError(
      `This is not valid JSON (${error instanceof Error ? error.message : error}). Give a JSON object, for example '{"priority":"high"}'.`,
    );
  }
  if (isObject(value)) return value;
  throw new InvalidArgumentError(`It must be a JSON object, for example '{"priority":"high"}'.`);
}

function isObject(value: unknown): value is CustomParameters {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuseAltered(_member: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const isTooLarge = !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  if (isTooLarge)
    throw new InvalidArgumentError(`The number ${context.source} would lose precision. Write it as a string.`);
  return value;
}

/** `--attachment name:size:type[:file_id]`, may be repeated. The name may contain colons, the rest may not. */
export function parseAttachment(text: string, before: AttachmentInput[] = []): AttachmentInput[] {
  const [, name, size, type, id] = /^(.+):(\d{1,15}):([^:]+)(?::([^:]+))?$/s.exec(text) ?? [];
  if (name === undefined || type === undefined) {
    throw new InvalidArgumentError(
      "Write name:size:type, with the size in bytes, for example report.pdf:48213:application/pdf, or what `herald files upload` prints.",
    );
  }
  const file = id === undefined ? {} : { file_id: id };
  return [...before, { name, size: Number(size), content_type: type, ...file }];
}

/** `--to uid,uid…`, may be repeated. A user whose id contains a comma can only be named through the HTTP API. */
export const parseUids = listParser("user ids", "alice,bob");

/** `--scope scope,scope…`, may be repeated. The server checks whether the scopes exist. */
export const parseScopes = listParser("scopes", "message:send,history:read");

/** `--cidr network,network…`, may be repeated. */
export const parseCidrs = listParser("networks", "192.0.2.0/24,2001:db8::/32");

function listParser(what: string, example: string) {
  return (text: string, before: string[] = []): string[] => {
    const items = text.split(",").map((item) => item.trim());
    if (items.includes("")) throw new InvalidArgumentError(`Separate ${what} with commas, for example ${example}.`);
    return [...before, ...items];
  };
}

/** `--attachment`, for messages that are sent now or later. */
export function attachmentOption(): Option {
  const description = "attachment, with its size in bytes; `herald files upload` prints it; may be repeated";
  return new Option("--attachment <name:size:type[:file_id]>", description).argParser(parseAttachment);
}

/** `--expires`: a time (ISO 8601), or a duration from now such as `90d`, `12h` or `30m`. Returns the time. */
export function parseExpiry(text: string, _before?: string, now: number = Date.now()): string {
  return parseTime(text, (span) => now + span);
}

/** `--since` and `--until`: a time (ISO 8601), or how long ago, such as `90d`, `12h` or `30m`. Returns the time. */
export function parsePast(text: string, _before?: string, now: number = Date.now()): string {
  return parseTime(text, (span) => now - span);
}

/** `--at`: a time (ISO 8601), or a duration from now such as `10m`, `in 2h` or `30s`. Returns the time. */
export function parseAhead(text: string, _before?: string, now: number = Date.now()): string {
  const [, span = text] = /^in (.+)$/.exec(text) ?? [];
  const seconds = /^([1-9]\d{0,5})s$/.exec(span)?.[1];
  if (seconds !== undefined) return new Date(now + Number(seconds) * 1000).toISOString();
  return parseExpiry(span, undefined, now);
}

function parseTime(text: string, timeOfSpan: (milliseconds: number) => number): string {
  const span = /^([1-9]\d{0,5})([mhd])$/.exec(text);
  if (span !== null) {
    const minutes = { m: 1, h: 60, d: 24 * 60 }[span[2] ?? ""] ?? 0;
    return new Date(timeOfSpan(Number(span[1]) * minutes * 60_000)).toISOString();
  }
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new InvalidArgumentError(
    "Write a time, for example 2027-01-31T12:00:00Z, or a duration, for example 90d, 12h or 30m.",
  );
}

/** A whole number, at least 0. */
export function parseWhole(text: string): number {
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write a whole number.");
}

/** A whole number, at least 1. */
export function parsePositive(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write a whole number, at least 1.");
}

/** The count of `--workers`: 1 to 128. */
export function parseWorkers(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= 128) return count;
  throw new InvalidArgumentError("Write a whole number from 1 to 128.");
}

/** A limit of an organization: a whole number, 0 for none, or `default`. */
export function parseLimit(text: string): number | "default" {
  if (text === "default") return text;
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write a whole number, 0 for no limit, or default.");
}
