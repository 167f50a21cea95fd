import type { z } from "zod";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { type JsonReading, readJson } from "../../lib/json/json-body.ts";
import { readJsonInTurns } from "../../lib/json/json-in-turns.ts";
import { jsonPointer } from "../../lib/json/json-scan.ts";
import { type FieldError, HeraldError } from "./errors.ts";

const maxFields = 20;

/** Parses `value` with `schema`. Throws `invalid_request` with a pointer to each invalid value. */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.flatMap(toFields).slice(0, maxFields);
  throw invalidRequest(fields);
}

/** Parses a JSON text. Throws `malformed_json`, or `invalid_request` for values that parsing would alter. */
export function parseJson(text: string, maxDepth: number): unknown {
  return requireValue(readJson(text, maxDepth));
}

/** Like `parseJson`, for long texts: spreads the work over many short turns of the event loop. */
export async function parseJsonInTurns(text: string, maxDepth: number): Promise<unknown> {
  return requireValue(await readJsonInTurns(text, maxDepth, nextTurn));
}

function requireValue(reading: JsonReading): unknown {
  if (reading.outcome === "malformed")
    throw new HeraldError("malformed_json", `the body is not valid JSON: ${reading.detail}`);
  if (reading.outcome === "altered") throw invalidRequest(reading.problems);
  return reading.value;
}

function invalidRequest(fields: FieldError[]): HeraldError {
  const [first] = fields;
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more)` : "";
  const detail =
    first === undefined ? undefined : `${first.pointer === "" ? "the request" : first.pointer}: ${first.detail}${more}`;
  return new HeraldError("invalid_request", detail, { fields });
}

function toFields(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      pointer: jsonPointer([...issue.path, key]),
      detail: "is not a known member here; check its spelling",
    }));
  }
  const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  return [{ pointer: jsonPointer(issue.path), detail: isMissing ? "is required" : lowerFirst(issue.message) }];
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
