import { z } from "zod";
import { isAtMost, isStorableText } from "../lib/text/text.ts";

const maxIdentifierCharacters = 128;
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Whether `text` is a valid identifier: 1 to 128 characters, no control characters, no lone surrogates (api.md, section 1). Nor is
 * it `.` or `..`: URL parsers take those for steps, even percent-encoded (WHATWG URL, "double-dot URL path segment"), so that
 * nobody could read, block or delete what has such an id.
 */
export function isIdentifier(text: string): boolean {
  if (text === "" || text === "." || text === "..") return false;
  return isAtMost(text, maxIdentifierCharacters) && !controlCharacter.test(text) && text.isWellFormed();
}

const noIdentifier = 'must be 1 to 128 characters, without control characters, and neither "." nor ".."';
const identifierSchema = {
  minLength: 1,
  maxLength: maxIdentifierCharacters,
  // Without a lookahead, which not every language has.
  pattern:
    "^([^.\\u0000-\\u001f\\u007f-\\u009f]|\\.[^.\\u0000-\\u001f\\u007f-\\u009f]|\\.\\.[^\\u0000-\\u001f\\u007f-\\u009f])[^\\u0000-\\u001f\\u007f-\\u009f]*$",
};

/** An identifier chosen by a caller: opaque, compared byte for byte. */
export const identifier = z.string().refine(isIdentifier, noIdentifier).meta(identifierSchema);

/** One identifier, or up to `maximum` of them, of things of one kind. */
export function identifiers(kind: "message" | "system message" | "user" | "conversation" | "file", maximum: number) {
  return z
    .array(identifier)
    .min(1, `must name at least one ${kind}`)
    .max(maximum, `must name at most ${maximum} ${kind}s`);
}

const mostReported = 20;

/**
 * User ids: equivalent to `z.array(identifier)`, but checked in one loop. For 100,000 ids that blocks the event loop for 2 ms instead
 * of 10 to 30.
 */
export function userIds({ minimum = 0, maximum }: { minimum?: 0 | 1; maximum: number }) {
  const bounds = { ...(minimum > 0 && { minItems: minimum }), ...(Number.isFinite(maximum) && { maxItems: maximum }) };
  return z
    .custom<string[]>()
    .superRefine((given: unknown, { addIssue }) => {
      const report = (message: string, path: number[] = []) => addIssue({ code: "custom", message, path });
      if (!Array.isArray(given)) addIssue(notOfType("array", given));
      else if (given.length < minimum) report("must name at least one user");
      else if (given.length > maximum) report(`must name at most ${maximum} users`);
      else {
        let reported = 0;
        for (let index = 0; index < given.length && reported < mostReported; index++) {
          const each: unknown = given[index];
          if (typeof each === "string" && isIdentifier(each)) continue;
          if (typeof each === "string") report(noIdentifier, [index]);
          else addIssue({ ...notOfType("string", each), path: [index] });
          reported++;
        }
      }
    })
    .meta({ type: "array", items: { type: "string", ...identifierSchema }, ...bounds });
}

function notOfType(expected: "array" | "string", given: unknown) {
  const received = given === null ? "null" : Array.isArray(given) ? "array" : typeof given;
  const message = `Invalid input: expected ${expected}, received ${received}`;
  return { code: "invalid_type", expected, message, input: given } as const;
}

/** Text of `minimum` to `maximum` characters (code points), stored and delivered unchanged. */
export function text(minimum: number, maximum: number) {
  const message = `must be ${minimum === 0 ? "at most" : `${minimum} to`} ${maximum} characters, without U+0000 or lone surrogates`;
  return z
    .string()
    .refine((value) => value.length >= minimum && isAtMost(value, maximum) && isStorableText(value), message)
    .meta({
      ...(minimum > 0 && { minLength: minimum }),
      ...(Number.isFinite(maximum) && { maxLength: maximum }),
      pattern: "^[^\\u0000]*$",
    });
}

/** A time as callers receive it. */
export const isoTime = z.iso.datetime({ precision: 3 });

/** When something was created, as callers receive it. */
export const createdAt = isoTime.meta({ description: "ISO 8601 UTC with milliseconds." });

const yearMs = 366 * 24 * 3600 * 1000;

/** Whether a time is at most a year after another, both in milliseconds. */
export function isWithinAYear(time: number, now: number): boolean {
  return time <= now + yearMs;
}

/** Unix epoch seconds: `floor` of a time in milliseconds. */
export function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

let lastTime = { milliseconds: Number.NaN, iso: "" }; // what is sent within a millisecond has the same time

/** ISO 8601 UTC with milliseconds. */
export function toIso(milliseconds: number): string {
  if (milliseconds !== lastTime.milliseconds) lastTime = { milliseconds, iso: new Date(milliseconds).toISOString() };
  return lastTime.iso;
}
