import { isObject } from "../../lib/json/json-values.ts";
import type { Operation } from "../operations/operation.ts";

/** The HTTP request that a tool makes. `target` is its path, percent-encoded, and its query. */
export type ToolCall = { method: string; target: string; body?: string };

/** The arguments of a tool do not make a request. */
export class BadArguments extends Error {}

const missing = (value: unknown) => value === undefined || value === null;

/**
 * The request for these arguments. What is neither of the path nor of the query goes into the body, or else into the query,
 * where the server refuses what it does not know. Throws `BadArguments` if the path cannot be made.
 */
export function toolCallOf(operation: Operation, given: Record<string, unknown>): ToolCall {
  const rest = new Map(Object.entries(given));
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const segment = segmentOf(name, rest.get(name));
    rest.delete(name);
    return segment;
  });
  const ofQuery = operation.body === undefined ? [...rest.keys()] : namesOf(operation.query);
  const pairs = ofQuery.flatMap((name) => {
    const value = rest.get(name);
    rest.delete(name);
    return missing(value) ? [] : [`${encode(name)}=${queryValue(value)}`];
  });
  const target = pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
  const method = operation.method.toUpperCase();
  return operation.body === undefined
    ? { method, target }
    : { method, target, body: JSON.stringify(Object.fromEntries(rest)) };
}

/** No URL can name the ids `.` and `..`. */
function segmentOf(name: string, value: unknown): string {
  if (typeof value !== "string") throw new BadArguments(`\`${name}\` is missing; it must be a text`);
  if (value === "" || value === "." || value === "..") throw new BadArguments(`\`${name}\` is not a valid id`);
  return encode(value);
}

function queryValue(value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => encode(String(one))).join(",");
  return encode(isObject(value) ? JSON.stringify(value) : String(value));
}

function namesOf(schema: Operation["query"]): string[] {
  return "shape" in schema && isObject(schema.shape) ? Object.keys(schema.shape) : [];
}

/** Throws `BadArguments` for a lone surrogate, which no URL can hold. */
function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw new BadArguments("a text contains a lone surrogate");
  }
}
