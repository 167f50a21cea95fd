import type { z } from "zod";
import { nextTurn } from "../lib/event-loop/next-turn.ts";
import { readJsonInTurns } from "../lib/json/json-in-turns.ts";
import { type JsonReading, jsonPointer, readJson } from "../lib/json/json-text.ts";
import { type FieldError, HeraldError } from "./errors/errors.ts";

const maxFields = 20;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Parses `value` with `schema`. Throws `invalid_request` with a pointer to each invalid value. */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.flatMap(toFields).slice(0, maxFields);
  throw invalidFields(fields);
}

/**
 * Parses JSON that a caller sent: decodes the bytes, scans the text for values that parsing would alter, then parses it. Throws
 * `malformed_json`, or `invalid_request` for such values. `validate` checks the result against its schema.
 */
export function parseStrictJson(sent: string | Uint8Array, maxDepth: number): unknown {
  return requireValue(readJson(textOf(sent), maxDepth));
}

/** Like `parseStrictJson`, for long JSON: spreads the work over many short turns, by default of the event loop. */
export async function parseStrictJsonInTurns(
  sent: string | Uint8Array,
  maxDepth: number,
  turn: () => Promise<void> = nextTurn,
): Promise<unknown> {
  return requireValue(await readJsonInTurns(textOf(sent), maxDepth, turn));
}

function textOf(sent: string | Uint8Array): string {
  if (typeof sent === "string") return sent;
  try {
    return decoder.decode(sent);
  } catch {
    throw new HeraldError("malformed_json", "the body is not valid UTF-8");
  }
}

function requireValue(reading: JsonReading): unknown {
  if (reading.outcome === "malformed")
    throw new HeraldError("malformed_json", `the body is not valid JSON: ${reading.detail}`);
  if (reading.outcome === "altered") throw invalidFields(reading.problems);
  return reading.value;
}

function invalidFields(fields: FieldError[]): HeraldError {
  const [first] = fields;
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more)` : "";
  const detail =
    first === undefined ? undefined : `${first.pointer === "" ? "the request" : first.pointer}: ${first.detail}${more}`;
  return new HeraldError("invalid_request", detail, { fields });
}

function toFields(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === "invalid_union" && issue.errors.length > 0) return ofNearest(issue.errors, issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      pointer: jsonPointer([...issue.path, key]),
      detail: "is not a known member here; check its spelling",
    }));
  }
  const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  return [{ pointer: jsonPointer(issue.path), detail: isMissing ? "is required" : lowerFirst(issue.message) }];
}

/** Of a value that fits none of several schemas, the faults by the one that knows most of its members. */
function ofNearest(faults: z.core.$ZodIssue[][], path: PropertyKey[]): FieldError[] {
  const unfit = (issues: z.core.$ZodIssue[]) => issues.filter((issue) => issue.path.length <= 1).length;
  const nearest = faults.reduce((one, other) => (unfit(other) < unfit(one) ? other : one));
  return nearest.flatMap((issue) => toFields({ ...issue, path: [...path, ...issue.path] }));
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
