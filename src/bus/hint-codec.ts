import { type CommitMark, kindOf, type LogEvent } from "../contract/log/log-event.ts";
import { isObject, isTexts, parseJson } from "../lib/json/json-values.ts";
import type { Hint } from "./bus.ts";

/** The version of hints that this node writes. Older hints name no version and no `prev`, and without a payload no `id`. */
const version = 1;

/** A hint as text: the event, or only its place when the text would be larger than `maxBytes`. */
export function encodeHint(event: LogEvent, maxBytes: number): string {
  const text = JSON.stringify({ v: version, ...event });
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const { org, offset, id, prev } = event;
  return JSON.stringify({ v: version, org, offset, id, prev });
}

/**
 * Reads the hint in a text from an organization's subject; `undefined` when it cannot be read. What it says may still be wrong:
 * anyone who reaches the bus can write. Fields are checked by hand, since every event of every node comes this way.
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
  const place = { org, offset, id, cid, payload, uids, prev, committed: toMark(read.committed) };
  return { ...place, kind: kindOf(kind) };
}

/** Parses JSON text; `undefined` unless it holds an object. */
export function toObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** A mark that cannot be read is dropped: then this delivery is not measured. */
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
