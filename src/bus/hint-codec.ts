import { type CommitMark, kindOf, type LogEvent } from "../contract/log/log-event.ts";
import { isObject, isTexts, parseJson } from "../lib/json/json-values.ts";
import type { Hint } from "./bus.ts";

/**
 * The version of hints that this node writes. Older hints have neither a version nor `prev`, and no `id` unless they
 * carry a payload.
 */
const version = 1;

/** Encodes an event as a hint, or only its place if the text would exceed `maxBytes`. */
export function encodeHint(event: LogEvent, maxBytes: number): string {
  const { org, offset, id, prev, payload } = event;
  if (payload.length <= maxBytes) {
    const text = JSON.stringify({ v: version, ...event });
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return JSON.stringify({ v: version, org, offset, id, prev });
}

/**
 * Decodes a hint from an organization's subject; `undefined` if it is unreadable. The content may still be wrong, as
 * anyone who reaches the bus can write. Fields are checked by hand, as every event of every node passes here.
 */
export function decodeHint(text: string, org: string): Hint | undefined {
  const read = toObject(text);
  if (read === undefined || (read.v !== undefined && read.v !== version) || read.org !== org) return undefined;
  const { offset, kind, id, cid, payload, uids, prev } = read;
  if (typeof offset !== "number" || !Number.isSafeInteger(offset) || offset < 1) return undefined;
  if (!isOptionalText(prev) || !isOptionalText(cid) || !isOptionalText(id)) return undefined;
  if (payload === undefined) return { org, offset, prev, ...(id !== undefined && { id }) };
  if (typeof payload !== "string" || id === undefined || typeof kind !== "string") return undefined;
  if (uids !== undefined && !isTexts(uids)) return undefined;
  const expiresAt = typeof read.expiresAt === "number" ? read.expiresAt : undefined;
  const place = { org, offset, id, cid, payload, uids, expiresAt, prev, committed: toMark(read.committed) };
  const event = { ...place, kind: kindOf(kind) };
  if (read.isOpen === true) return { ...event, isOpen: true };
  return typeof read.completes === "number" ? { ...event, completes: read.completes } : event;
}

/** Parses JSON text; `undefined` unless it is an object. */
export function toObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Parses a commit mark. An unreadable one is dropped, and the delivery is not measured. */
function toMark(value: unknown): CommitMark | undefined {
  if (!isObject(value)) return undefined;
  const { node, steadyMs, wallMs, trace } = value;
  if (typeof node !== "string" || !Number.isFinite(steadyMs) || !Number.isFinite(wallMs)) return undefined;
  if (typeof steadyMs !== "number" || typeof wallMs !== "number") return undefined;
  return { node, steadyMs, wallMs, ...(typeof trace === "string" && { trace }) };
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
